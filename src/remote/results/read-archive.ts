// Reads an archive from a machine, entry by entry, to its very end: a truncated archive is an error.

import type { Readable } from "node:stream";
import { Parser } from "tar/parse";
import type { ReadEntry } from "tar/read-entry";
import { deferred } from "../../transport/deferred.js";
import { RemoteError } from "../engine/remote-error.js";

/** Passes on one entry at a time. Rejects as `take` does, and for an incomplete archive. */
export async function readArchive(
  archive: Readable,
  take: (entry: ReadEntry) => Promise<void>,
): Promise<void> {
  const { promise: isRead, resolve, reject } = deferred<void>();
  let taken = Promise.resolve();
  let [isWhole, hasFailed] = [false, false];
  const parser = new Parser({
    strict: true,
    // One at a time: an entry that is not read yet holds back the rest of the archive.
    onReadEntry: (entry) => {
      if (hasFailed) return entry.resume();
      taken = taken.then(() => take(entry));
      taken.catch(reject);
    },
  });
  parser.on("error", reject);
  parser.on("eof", () => {
    isWhole = true;
  });
  parser.on("end", () => (isWhole ? resolve() : reject(new RemoteError("the archive it sent is cut off"))));
  archive.on("error", reject);
  archive.on("close", () => archive.readableEnded || reject(new RemoteError("the connection was lost")));
  archive.pipe(parser as unknown as NodeJS.WritableStream);
  try {
    await isRead;
    await taken;
  } catch (error) {
    hasFailed = true;
    archive.unpipe();
    // Ends the entry that is being written, so that nothing is written once this has rejected.
    parser.end();
    await taken.catch(() => {});
    throw error;
  }
}
