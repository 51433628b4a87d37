// The small file by which commands find the service of this user on this computer.

import { lstatSync, readFileSync } from "node:fs";
import { UserError } from "../../errors.js";

/** Written as JSON. */
export interface ServiceFile {
  readonly pid: number;
  /** The path of its socket. */
  readonly socket: string;
  /** Of the sshoal that runs it. */
  readonly version: string;
  /** Its state directory. */
  readonly state: string;
  readonly startedAt: number;
  /** Where it listens on TCP, as `host:port`; null: on its socket alone. */
  readonly listen: string | null;
  /** The Node.js that runs it; null: it is too old to say. */
  readonly node: string | null;
  /** What it keeps of jobs that are over; null, here and below: all, or it is too old to say. */
  readonly keepJobs: number | null;
  readonly keepDays: number | null;
  /** False: `--no-local`. */
  readonly usesThisComputer: boolean;
}

/** Null: there is none. Throws UserError if another account could have written it. */
export function loadServiceFile(file: string): ServiceFile | null {
  const found = lstatSync(file, { throwIfNoEntry: false });
  if (found === undefined) return null;
  const isOurs = found.isFile() && found.uid === process.geteuid?.() && (found.mode & 0o077) === 0;
  if (!isOurs)
    throw new UserError(`${file}: not used, because it is not a file of this account alone`, {
      hint: `look at it, then remove it: ls -l ${file}`,
    });
  const read = parseServiceFile(readFileSync(file, "utf8"));
  if (read === null)
    throw new UserError(`${file}: does not describe a queue service`, {
      hint: "start the service again: sshoal serve",
    });
  return read;
}

export function parseServiceFile(text: string): ServiceFile | null {
  try {
    const note = JSON.parse(text) as Record<string, unknown>;
    const { pid, socket, version, state, startedAt, listen, node } = note;
    if (typeof pid !== "number" || typeof startedAt !== "number") return null;
    if (typeof socket !== "string" || typeof version !== "string" || typeof state !== "string") return null;
    return {
      pid,
      socket,
      version,
      state,
      startedAt,
      listen: textOr(listen),
      node: textOr(node),
      keepJobs: numberOr(note.keepJobs),
      keepDays: numberOr(note.keepDays),
      usesThisComputer: note.usesThisComputer !== false,
    };
  } catch {
    return null;
  }
}

/** A service of an earlier version does not write all. */
function textOr(raw: unknown): string | null {
  return typeof raw === "string" ? raw : null;
}

function numberOr(raw: unknown): number | null {
  return typeof raw === "number" ? raw : null;
}
