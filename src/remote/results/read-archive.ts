// Reads an archive that a machine sends, entry by entry, to its very end: one that is cut off is an error.

import type { Readable } from "node:stream";
import { Parser } from "tar/parse";
import type { ReadEntry } from "tar/read-entry";
import { deferred } from "../../transport/deferred.js";
import { RemoteError } from "../engine/remote-error.js";

/** Entries come one after another. Rejects as `take` does, and for an archive that is not whole. */
export async function readArchive(
  archive: Readable,
  take: (entry: ReadEntry) => Promise<void>,
): Promise<void> {
  const { promise: isRead, resolve, reject } = deferred<void>();
  let taken = Promise.resolve();
  let [isWhole, hasFailed] = [false, false];
  const parser = new Parser({
    strict: true,
    // One after another: an entry that is not read yet holds back the rest of the archive.
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
    // Ends the entry that is being written: nothing is written any more once this has rejected.
    parser.end();
    await taken.catch(() => {});
    throw error;
  }
}
