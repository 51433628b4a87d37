// A job's output on the local disk: job_results/<job>.out and .err, which grow while a client follows the batch.

import { type FileHandle, open } from "node:fs/promises";
import { OVERLAP_BYTES } from "../../remote/spool/fresh-output.js";

/** Resolves when the reader has taken the bytes. */
export type WriteBytes = (bytes: Buffer) => Promise<void>;

/** Receives one stream of a job. */
export interface OutputSink {
  readonly write: WriteBytes;
  /** Called at least once when everything so far was written, unless a call of write has failed. */
  settle(): Promise<void>;
}

/** One stream of one job that is being shown. */
export interface ShownStream {
  readonly stream: "out" | "err";
  readonly sink: OutputSink;
  readonly cursor: Cursor;
}

/** How far one stream of one attempt has been shown. */
export interface Cursor {
  offset: number;
  /** How much of that the job has removed on its machine since. */
  kept: number;
  /** The last bytes that were shown. */
  recent: Buffer;
  /** Of the file that was read last; null: none was. */
  inode: number | null;
}

export function newCursor(): Cursor {
  return { offset: 0, kept: 0, recent: Buffer.alloc(0), inode: null };
}

export function rewind(cursor: Cursor): void {
  Object.assign(cursor, { ...newCursor(), inode: cursor.inode });
}

export function advance(cursor: Cursor, bytes: Buffer): void {
  cursor.offset += bytes.length;
  cursor.recent = Buffer.concat([cursor.recent, bytes.subarray(-OVERLAP_BYTES)]).subarray(-OVERLAP_BYTES);
}

/** Shows what the file has after the cursor, up to `end`, and moves the cursor. Null: there is no file. */
export async function copyBeyond(
  path: string,
  cursor: Cursor,
  write: WriteBytes,
  end = Number.POSITIVE_INFINITY,
): Promise<number | null> {
  const file = await openIfThere(path);
  if (file === null) return null;
  try {
    const { ino } = await file.stat();
    // Another attempt has begun: the output of the last one was moved aside.
    if (cursor.inode !== null && cursor.inode !== ino) rewind(cursor);
    cursor.inode = ino;
    const start = cursor.offset;
    if (start >= end) return 0;
    for await (const chunk of file.createReadStream({ start, end: end - 1, autoClose: false })) {
      await write(chunk as Buffer);
      advance(cursor, chunk as Buffer);
    }
    return cursor.offset - start;
  } finally {
    await file.close();
  }
}

async function openIfThere(path: string): Promise<FileHandle | null> {
  return open(path).catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return null;
    throw error;
  });
}
