// `grass start` and `grass daemon`: the queue service, in the background or here.

import { UserError } from "../../../errors.js";
import type { GrassDaemonOptions } from "../../options/grass/daemon-options.js";
import type { ServeOptions } from "../../options/queue/serve-options.js";
import { note } from "../../terminal/note.js";
import { serve } from "../queue/serve.js";

const USUAL: Omit<ServeOptions, "action"> = {
  isForeground: false,
  installs: false,
  stateDir: null,
  capacity: null,
  listen: null,
  limits: { jobs: null, days: null },
  isJson: false,
};

export async function grassDaemon(options: GrassDaemonOptions): Promise<number> {
  for (const each of options.notes) note(each);
  refuseOthers(options);
  return serve({
    ...USUAL,
    action: "start",
    isForeground: options.isForeground,
    capacity: options.capacity,
    listen: options.bind,
  });
}

export function grassStop(): Promise<number> {
  return serve({ ...USUAL, action: "stop" });
}

function refuseOthers({ connect, hasWorker }: GrassDaemonOptions): void {
  const flag = connect !== null ? "--connect" : hasWorker ? null : "--no-worker";
  if (flag !== null)
    throw new UserError(`${flag}: a daemon for several computers cannot be started yet`, {
      hint: "grass daemon",
    });
}
