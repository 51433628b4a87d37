// A local file that grows as its original on a machine grows.

import { constants } from "node:fs";
import { type FileHandle, open } from "node:fs/promises";
import type { OutputPiece } from "../../remote/spool/control-stream.js";
import { freshOutput } from "../../remote/spool/fresh-output.js";

/** No file stays open, because there may be more jobs than file descriptors. */
export interface Growing {
  readonly path: string;
  /** The size of the local file. */
  size: number;
  /** The offset in the local file at which the machine's file begins. The job has removed the text before it. */
  kept: number;
}

/** Appends the new part of a piece. Returns false and writes nothing if the piece does not continue the local file. */
export async function grow(growing: Growing, piece: Pick<OutputPiece, "offset" | "bytes">): Promise<boolean> {
  return withFile(growing.path, async (handle) => {
    const known = await readFrom(handle, growing.kept + piece.offset, growing.size);
    const fresh = freshOutput(piece, offsetOf(growing), known);
    if (fresh === null) return false;
    await append(handle, growing, fresh);
    return true;
  });
}

/** Adds what is from no machine. */
export async function addTo(growing: Growing, bytes: Buffer): Promise<void> {
  await withFile(growing.path, (handle) => append(handle, growing, bytes));
}

async function append(handle: FileHandle, growing: Growing, bytes: Buffer): Promise<void> {
  for (let done = 0; done < bytes.length; ) {
    const { bytesWritten } = await handle.write(bytes, done, bytes.length - done, growing.size);
    done += bytesWritten;
    growing.size += bytesWritten;
  }
}

export async function makeFile(path: string): Promise<void> {
  await withFile(path, async () => {});
}

export async function syncFile(path: string): Promise<void> {
  await withFile(path, (handle) => handle.sync());
}

/** Creates the file if it does not exist. */
async function withFile<T>(path: string, use: (handle: FileHandle) => Promise<T>): Promise<T> {
  const handle = await open(path, constants.O_CREAT | constants.O_RDWR, 0o600);
  try {
    return await use(handle);
  } finally {
    await handle.close();
  }
}

/** How far the machine's file has been copied. */
export function offsetOf({ size, kept }: Growing): number {
  return size - kept;
}

async function readFrom(handle: FileHandle, from: number, to: number): Promise<Buffer> {
  const length = Math.max(0, to - from);
  if (length === 0) return Buffer.alloc(0);
  const { buffer, bytesRead } = await handle.read(Buffer.alloc(length), 0, length, from);
  return buffer.subarray(0, bytesRead);
}
