// Writes bytes to a reader, unchanged: waits for a slow one, and notices when it has left.

import type { Writable } from "node:stream";
import type { WriteBytes } from "../../batch/output/output-file.js";

/** The reader wants no more (`| head`). */
export class ReaderLeft extends Error {
  constructor(cause: Error) {
    super("its reader is gone", { cause });
    this.name = "ReaderLeft";
  }
}

/** Each write resolves once the bytes are passed on; rejects with ReaderLeft. */
export function writeTo(stream: Writable): WriteBytes {
  return (bytes) =>
    new Promise((resolve, reject) => {
      stream.write(bytes, (error) => (error ? reject(new ReaderLeft(error)) : resolve()));
    });
}
