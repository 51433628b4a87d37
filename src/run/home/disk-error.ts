// Errors of the local disk that may go away, for example after the user frees space.

import { UserError } from "../../errors.js";

const CODES = new Set(["ENOSPC", "EDQUOT", "EACCES", "EPERM", "EROFS", "EIO", "EMFILE", "ENOENT"]);

export function isOfThisDisk(error: unknown): error is NodeJS.ErrnoException {
  return error instanceof Error && CODES.has((error as NodeJS.ErrnoException).code ?? "");
}

/** Before the run has begun there is nothing to wait for, so the user gets an error. */
export function writingTo<T>(dir: string, write: () => T): T {
  try {
    return write();
  } catch (cause) {
    if (!isOfThisDisk(cause)) throw cause;
    throw new UserError(`${dir} cannot be written: ${cause.message}`, {
      hint: "free disk space or make it writable, then type the same command again",
      cause,
    });
  }
}
