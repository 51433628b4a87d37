// Writes one file of an archive into a newly created file.

import { closeSync, constants, fchmodSync, futimesSync, openSync, writeSync } from "node:fs";
import type { ReadEntry } from "tar/read-entry";
import { deferred } from "../../transport/deferred.js";
import { type Blocks, putBack, takeBlocks } from "./aligned-blocks.js";
import { BlockFile } from "./block-file.js";

const FRESH = constants.O_CREAT | constants.O_EXCL | constants.O_WRONLY | constants.O_NOFOLLOW;
/** Smaller files are written synchronously: waiting for each write costs more than writing a small file. */
const SMALL_BYTES = 256 << 10;

/** Calls `create` once; it returns a new, empty, open file. */
export async function writeEntry(entry: ReadEntry, create: () => NewFile): Promise<void> {
  if (entry.size <= SMALL_BYTES) writeSmall(entry, await entry.concat(), create());
  else await writeLarge(entry, create());
}

export interface NewFile {
  readonly file: string;
  readonly fd: number;
}

/** Never overwrites a file, and never follows a link. */
export function createFile(file: string): NewFile {
  return { file, fd: openSync(file, FRESH, 0o600) };
}

/** Only the owner's bits, because results are private. */
function modeOf({ mode = 0o600 }: ReadEntry): number {
  return (mode & 0o700) | 0o400;
}

/** A disk that is nearly full writes a part, and reports it only by the number of bytes. */
function writeSmall(entry: ReadEntry, content: Buffer, { fd }: NewFile): void {
  try {
    for (let done = 0; done < content.length; ) done += writeSync(fd, content, done);
    fchmodSync(fd, modeOf(entry));
    if (entry.mtime) futimesSync(fd, entry.mtime, entry.mtime);
  } finally {
    closeSync(fd);
  }
}

async function writeLarge(entry: ReadEntry, { file, fd }: NewFile): Promise<void> {
  closeSync(fd);
  const target = await BlockFile.open(file, entry.size);
  const blocks = takeBlocks();
  try {
    await pour(entry, blocks, (block) => target.write(block));
    await target.finish({ mode: modeOf(entry), mtime: entry.mtime });
  } finally {
    await target.close();
    putBack(blocks);
  }
}

/**
 * Copies each packet into a block as it arrives: waiting packets would be expensive for the garbage collector. `write`
 * resolves when the other block may be filled.
 */
async function pour(
  entry: ReadEntry,
  blocks: Blocks,
  write: (block: Buffer) => Promise<void>,
): Promise<void> {
  const { promise: isPoured, resolve, reject } = deferred<void>();
  let [block, other] = blocks;
  let filled = 0;
  const next = async () => {
    await write(block.subarray(0, filled));
    [block, other] = [other, block];
    filled = 0;
  };
  const takeRest = async (chunk: Buffer, from: number) => {
    for (let at = from; filled === block.length; ) {
      await next();
      const copied = chunk.copy(block, 0, at);
      filled = copied;
      at += copied;
    }
  };
  entry.on("data", (chunk) => {
    const copied = chunk.copy(block, filled);
    filled += copied;
    if (filled < block.length) return;
    entry.pause();
    takeRest(chunk, copied).then(() => entry.resume(), reject);
  });
  entry.on("error", reject).on("end", resolve);
  await isPoured;
  if (filled > 0) await next();
}
