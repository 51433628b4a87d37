// Writes one file of an archive: never over another one, nor through a link.

import { closeSync, constants, fchmodSync, futimesSync, openSync, writeSync } from "node:fs";
import { type FileHandle, open } from "node:fs/promises";
import type { ReadEntry } from "tar/read-entry";

/** In one go: to wait for each write costs more than a small file takes. */
const SMALL_BYTES = 256 << 10;
const PIECE_BYTES = 1 << 20;
const FLUSH_BYTES = 64 << 20;

export async function writeEntry(file: string, entry: ReadEntry): Promise<void> {
  if (entry.size <= SMALL_BYTES) writeSmall(file, entry, await entry.concat());
  else await writeLarge(file, entry);
}

const FRESH = constants.O_CREAT | constants.O_EXCL | constants.O_WRONLY | constants.O_NOFOLLOW;

function modeOf({ mode = 0o600 }: ReadEntry): number {
  return (mode & 0o777) | 0o400;
}

/** A disk that is about to be full takes a part of what it is given, and says so only in the number of bytes. */
function writeSmall(file: string, entry: ReadEntry, content: Buffer): void {
  const fd = openSync(file, FRESH, 0o600);
  try {
    for (let done = 0; done < content.length; ) done += writeSync(fd, content, done);
    fchmodSync(fd, modeOf(entry));
    if (entry.mtime) futimesSync(fd, entry.mtime, entry.mtime);
  } finally {
    closeSync(fd);
  }
}

/** The disk is kept busy meanwhile: to bring gigabytes to it only at the end would take as long again. */
async function writeLarge(file: string, entry: ReadEntry): Promise<void> {
  const handle = await open(file, FRESH, 0o600);
  let writing = Promise.resolve();
  let flushing = Promise.resolve();
  let unflushedBytes = 0;
  try {
    // While one piece is being written the next arrives.
    for await (const piece of gathered(entry as AsyncIterable<Buffer>)) {
      await writing;
      if (unflushedBytes >= FLUSH_BYTES) {
        await flushing;
        unflushedBytes = 0;
        flushing = handle.datasync();
        flushing.catch(() => {}); // awaited above, or at the end
      }
      writing = writeAll(handle, piece.chunks);
      writing.catch(() => {});
      unflushedBytes += piece.bytes;
    }
    await writing;
    await flushing;
    await handle.chmod(modeOf(entry));
    if (entry.mtime) await handle.utimes(entry.mtime, entry.mtime);
  } finally {
    await Promise.allSettled([writing, flushing]);
    await handle.close();
  }
}

/** As they came: to join them first would be one more copy, and rubbish to collect. */
async function writeAll(handle: FileHandle, chunks: readonly Buffer[]): Promise<void> {
  const { bytesWritten } = await handle.writev(chunks);
  const rest = bytesWritten < lengthOf(chunks) ? Buffer.concat(chunks).subarray(bytesWritten) : EMPTY;
  for (let done = 0; done < rest.length; ) done += (await handle.write(rest, done)).bytesWritten;
}

const EMPTY: Buffer = Buffer.alloc(0);

function lengthOf(chunks: readonly Buffer[]): number {
  return chunks.reduce((sum, { length }) => sum + length, 0);
}

/** What arrives in packets, in pieces that are worth a call. */
async function* gathered(chunks: AsyncIterable<Buffer>): AsyncGenerator<{ chunks: Buffer[]; bytes: number }> {
  let piece: { chunks: Buffer[]; bytes: number } = { chunks: [], bytes: 0 };
  for await (const chunk of chunks) {
    piece.chunks.push(chunk);
    piece.bytes += chunk.length;
    if (piece.bytes < PIECE_BYTES) continue;
    yield piece;
    piece = { chunks: [], bytes: 0 };
  }
  if (piece.bytes > 0) yield piece;
}
