// A disk that does not take the record's changes: full, over a quota, read-only or broken.

import { ExitCode, UserError } from "../../errors.js";

/** Nothing was changed. The same change may succeed later. */
export class DiskRefusal extends UserError {
  /** One line for users. */
  readonly reason: string;

  constructor(reason: string, cause: unknown) {
    super(`the record of the service cannot be written: ${reason}`, {
      hint: "free space there, and type the same command again; sshoal serve status prints where it is",
      exitCode: ExitCode.JobFailed,
      cause,
    });
    this.name = "DiskRefusal";
    this.reason = reason;
  }
}

/** SQLite's own numbers. */
const REASONS: ReadonlyMap<number, string> = new Map([
  [8, "it is read-only"],
  [10, "the disk reports an error"],
  [13, "the disk is full"],
  [14, "its file cannot be opened"],
]);
const LOCKED = 5;
const CODES = new Set(["ENOSPC", "EDQUOT", "EROFS", "EIO"]);

/** Throws DiskRefusal if the disk does not take it. */
export function writing<T>(write: () => T): T {
  try {
    return write();
  } catch (error) {
    throw asDiskRefusal(error);
  }
}

/** Any other error is returned as it is. */
export function asDiskRefusal(error: unknown): unknown {
  const { errcode, code } = (error ?? {}) as { errcode?: unknown; code?: unknown };
  // The lower byte: the rest says which call failed.
  const number = typeof errcode === "number" ? errcode & 0xff : null;
  if (number === LOCKED) return new DiskRefusal("another program has locked it for too long", error);
  const reason = number === null ? undefined : REASONS.get(number);
  if (reason !== undefined) return new DiskRefusal(reason, error);
  if (typeof code === "string" && CODES.has(code)) return new DiskRefusal((error as Error).message, error);
  return error;
}
