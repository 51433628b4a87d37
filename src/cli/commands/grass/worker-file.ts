// What the worker on this computer and commands beside it know of each other: its broker, and the queues that it serves.

import { readFileSync, renameSync, writeFileSync } from "node:fs";
import path from "node:path";
import { UserError } from "../../../errors.js";
import type { Capacities } from "../../../model/queue.js";
import { readHolder } from "../../../run/home/lock.js";
import { serviceFile } from "../queue/own-service-file.js";

/** Written as JSON. */
export interface WorkerFile {
  /** As --server takes it. */
  readonly server: string;
  /** Absolute; null: a variable has the token, or none is needed. */
  readonly tokenFile: string | null;
  /** The name of this computer at the broker. */
  readonly name: string;
  /** For its queues that declare nothing. */
  readonly capacity: Capacities | null;
  readonly queues: readonly string[];
}

export interface WorkerPlace {
  readonly file: string;
  readonly lock: string;
}

/** Beside the note of a service, so it belongs to this account and this computer. */
export function workerPlace(): WorkerPlace {
  const note = serviceFile();
  if (note === null)
    throw new UserError("the directory for the state of sshoal is not safe: another account can change it", {
      hint: "export XDG_STATE_HOME to a directory of your own",
    });
  const name = path.basename(note).replace(/^service@(.*)\.json$/, "grass-worker@$1");
  const base = path.join(path.dirname(note), name);
  return { file: `${base}.json`, lock: `${base}.lock` };
}

/** Null: no worker runs. */
export function runningWorker(): (WorkerFile & { readonly pid: number }) | null {
  const { file, lock } = workerPlace();
  const holder = readHolder(lock);
  const known = holder === null ? null : loadWorkerFile(file);
  return holder === null || known === null ? null : { ...known, pid: holder.pid };
}

/** Null: there is none. */
export function loadWorkerFile(file: string): WorkerFile | null {
  try {
    return JSON.parse(readFileSync(file, "utf8")) as WorkerFile;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return null;
    throw error;
  }
}

export function saveWorkerFile(file: string, worker: WorkerFile): void {
  const fresh = `${file}.${process.pid}`;
  writeFileSync(fresh, `${JSON.stringify(worker)}\n`, { mode: 0o600 });
  renameSync(fresh, file);
}
