// Where a service keeps its files, and how the commands of its user find it.

import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import type { Surroundings } from "../batch/surroundings.js";
import { isOwnOrMissing } from "../cache-dir.js";
import { UserError } from "../errors.js";
import type { ServiceFile } from "./client/service-file.js";
import { makeOwnDir } from "./store/state-dir.js";

/** What a running service tells the commands of its user. It knows its Node.js. */
export interface ServiceNote extends ServiceFile {
  readonly node: string;
}

type Here = Pick<Surroundings, "stateDir" | "computer">;

/** Names the host, because several computers can share a home. */
export function noteFile({ stateDir, computer }: Here): string {
  return path.join(ownStateDir(stateDir), `service@${fileWord(computer)}.json`);
}

/** `asked`: `--state`; null: below the state directory of the user. */
export function serviceDir({ stateDir, computer }: Here, asked: string | null): string {
  return asked === null
    ? path.join(ownStateDir(stateDir), `service@${fileWord(computer)}`)
    : path.resolve(asked);
}

/** Held by the service that runs, or starts, with this directory. */
export function lockFile(dir: string): string {
  return path.join(dir, "service.lock");
}

function ownStateDir(stateDir: string | null): string {
  if (stateDir !== null) return stateDir;
  throw new UserError("there is no directory of yours for the state of the queue service", {
    hint: "set XDG_STATE_HOME to a directory that only you can write",
  });
}

function fileWord(computer: string): string {
  return computer.replace(/[^\w.-]/g, "_");
}

export function makeServiceDir(dir: string): void {
  makeOwnDir(dir);
  if (isOwnOrMissing(dir)) return;
  throw new UserError(`${dir}: another account could change what is there`, {
    hint: "sshoal serve --state DIR, with a directory that only you can write",
  });
}

export function writeNote(file: string, note: ServiceNote): void {
  mkdirSync(path.dirname(file), { recursive: true, mode: 0o700 });
  const fresh = `${file}.${note.pid}`;
  writeFileSync(fresh, `${JSON.stringify(note)}\n`, { mode: 0o600 });
  renameSync(fresh, file);
}

/** Not that of a service that began later. */
export function removeNote(file: string, pid: number): void {
  try {
    const { pid: current } = JSON.parse(readFileSync(file, "utf8")) as ServiceNote;
    if (current === pid) rmSync(file, { force: true });
  } catch {
    // It is gone already.
  }
}
