// `grass start`, `grass daemon` and `grass stop`: the queue service, in the background or here, or a worker for another one.

import { setTimeout as pause } from "node:timers/promises";
import { ExitCode, UserError } from "../../../errors.js";
import { isGone } from "../../../run/home/lock.js";
import type { GrassDaemonOptions } from "../../options/grass/daemon-options.js";
import type { ServeOptions } from "../../options/queue/serve-options.js";
import { note } from "../../terminal/note.js";
import { serve } from "../queue/serve.js";
import { runningWorker } from "./worker-file.js";

const USUAL: Omit<ServeOptions, "action"> = {
  isForeground: false,
  installs: false,
  stateDir: null,
  capacity: null,
  listen: null,
  usesThisComputer: null,
  limits: { jobs: undefined, days: undefined },
  isJson: false,
};
const PATIENCE_MS = 30_000;

export async function grassDaemon(options: GrassDaemonOptions): Promise<number> {
  const { bind: listen, connect, capacity, hasWorker, isForeground } = options;
  const usesThisComputer = hasWorker ? null : false;
  for (const each of options.notes) note(each);
  if (connect === null)
    return serve({ ...USUAL, action: "start", isForeground, capacity, listen, usesThisComputer });
  if (!isForeground)
    throw new UserError("a worker for another broker runs in the foreground", {
      hint: "nohup grass daemon --no-broker --connect … &, or tmux",
    });
  for (const each of capacity?.notes ?? []) note(each);
  const { grassWorker } = await import("./grass-worker.js");
  return grassWorker({ server: connect, capacity: capacity?.capacity ?? null });
}

/** Of a worker, that of the worker: it has no broker here. */
export async function grassStop(): Promise<number> {
  const worker = runningWorker();
  if (worker === null) return serve({ ...USUAL, action: "stop" });
  const { pid } = worker;
  process.kill(pid, "SIGTERM");
  for (const until = Date.now() + PATIENCE_MS; !isGone(pid); await pause(20))
    if (Date.now() > until)
      throw new UserError(`the worker (process ${pid}) has not ended after ${PATIENCE_MS / 1000}s`, {
        hint: `kill ${pid}; its jobs run on`,
        exitCode: ExitCode.JobFailed,
      });
  process.stdout.write(`stopped: worker ${pid}; its jobs run on\n`);
  return ExitCode.Success;
}
