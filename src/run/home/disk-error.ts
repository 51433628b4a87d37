// What this computer's disk refuses may work later, when somebody has made room or mended it.

import { UserError } from "../../errors.js";

const CODES = new Set(["ENOSPC", "EDQUOT", "EACCES", "EPERM", "EROFS", "EIO", "EMFILE", "ENOENT"]);

export function isOfThisDisk(error: unknown): error is NodeJS.ErrnoException {
  return error instanceof Error && CODES.has((error as NodeJS.ErrnoException).code ?? "");
}

/** Before anything was begun there is nothing to wait for: the user is told. */
export function writingTo<T>(dir: string, write: () => T): T {
  try {
    return write();
  } catch (cause) {
    if (!isOfThisDisk(cause)) throw cause;
    throw new UserError(`${dir} cannot be written: ${cause.message}`, {
      hint: "make room there, or make it writable, and type the same command again",
      cause,
    });
  }
}
