// Reads a part of a local file.

import { closeSync, openSync, readSync } from "node:fs";

/** Up to `most` bytes, fewer at the end. Closes the file after each call, because there may be more jobs than file descriptors. */
export function readPart(file: string, from: number, most: number): Buffer {
  const fd = openSync(file, "r");
  try {
    const bytes = Buffer.allocUnsafe(most);
    return bytes.subarray(0, readSync(fd, bytes, 0, most, from));
  } finally {
    closeSync(fd);
  }
}
