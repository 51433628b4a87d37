// A job's output as far as it is on this disk: job_results/<job>.out and .err, which grow while a client follows.

import { type FileHandle, open } from "node:fs/promises";
import type { WriteBytes } from "./byte-sink.js";

/** How far one stream of one attempt has been shown. */
export interface Cursor {
  offset: number;
  /** Of the file that was read last; null: none was. */
  inode: number | null;
}

/** Shows what the file has beyond the cursor, which moves along; null: there is no file. */
export async function copyBeyond(path: string, cursor: Cursor, write: WriteBytes): Promise<number | null> {
  const file = await openIfThere(path);
  if (file === null) return null;
  try {
    const { ino } = await file.stat();
    // Another attempt has begun: what the last one said was moved aside.
    if (cursor.inode !== null && cursor.inode !== ino) cursor.offset = 0;
    cursor.inode = ino;
    const start = cursor.offset;
    for await (const chunk of file.createReadStream({ start, autoClose: false })) {
      await write(chunk as Buffer);
      cursor.offset += (chunk as Buffer).length;
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
