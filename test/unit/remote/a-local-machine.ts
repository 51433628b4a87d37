// This computer as the machine, with its own home: real sh, real tar, no ssh.

import { mkdirSync, readdirSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import type { BatchSettings } from "../../../src/model/batch.js";
import type { Place } from "../../../src/remote/engine/layout.js";
import type { HandOver } from "../../../src/remote/spool/hand-over.js";
import { needsOwnShell } from "../../../src/remote/spool/own-shell.js";
import { noTree } from "../../../src/remote/tree/tree.js";
import { connectLocal } from "../../../src/transport/local.js";
import type { Session } from "../../../src/transport/session.js";
import { killAll, pidsWithHome } from "../../rig/processes.js";
import { until } from "../../rig/until.js";
import { makeWorkspace, type Workspace } from "../../rig/workspace.js";
import { aNeed } from "../plan/a-machine.js";
import { BATCH, HOST, readEvents } from "./a-spool.js";

export const never = new AbortController().signal;

export interface LocalMachine extends Workspace {
  readonly session: Session;
  readonly place: Place;
  /** Of the batch, relative to the home. */
  readonly spool: string;
  untilEvent(start: string): Promise<void>;
  /** Fails if any process still runs, then removes everything. */
  close(): Promise<void>;
}

export async function makeLocalMachine(): Promise<LocalMachine> {
  const home = await makeWorkspace();
  const session = await connectLocal({ homeDir: home.dir });
  const spool = `.sshoal/batches/${BATCH}@${HOST}`;
  return {
    ...home,
    session,
    place: { batch: BATCH, scratch: null },
    spool,
    async untilEvent(start) {
      await until(`an event ${start}`, async () =>
        (await readEvents(home.path(spool))).some((line) => line.startsWith(start)),
      );
    },
    async close() {
      await session.close();
      try {
        await until("no process is left", () => pidsWithHome(home.dir).length === 0);
      } finally {
        killAll(pidsWithHome(home.dir));
        await home.remove();
      }
    },
  };
}

const SETTINGS: BatchSettings = {
  requirement: aNeed({ memoryMb: 1 }),
  timeoutSeconds: null,
  inPlace: null,
  copyForward: ["."],
  copyBack: ["."],
  copiesUnchanged: false,
  envNames: [],
};

/** One slot, no tree; `jobs`: key to command. */
export function anOrder(
  { place }: LocalMachine,
  jobs: Readonly<Record<string, string>>,
  facts: Partial<HandOver> = {},
): HandOver {
  const slot = { index: 0, gpus: [] };
  return {
    place,
    settings: { copiesUnchanged: false, timeoutSeconds: null, inPlace: null },
    isFurnished: false,
    room: `batch ${place.batch}\ncpu 64000 0\nkeep 0 0 0\njobs -\nslots 0\n`,
    needs: new Map([["-", "need - 1 1000 0\n"]]),
    slots: 1,
    tree: noTree("/"),
    jobs: Object.entries(jobs).map(([key, script]) => ({
      key,
      script: `${script}\n`,
      needsOwnShell: needsOwnShell(script),
    })),
    manifest: { script: "jobs.sh", settings: SETTINGS, slots: [slot], jobs: new Map() },
    signal: never,
    ...facts,
  };
}

/** A PATH with the usual tools, except some. */
export function pathWithout(box: Workspace, ...names: string[]): string {
  const dir = box.path("fewer-tools");
  mkdirSync(dir);
  for (const tool of readdirSync("/usr/bin")) {
    if (!names.includes(tool)) symlinkSync(join("/usr/bin", tool), join(dir, tool));
  }
  return dir;
}
