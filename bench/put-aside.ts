// Moves the files of a round away by a rename instead of removing them. A file system that has just removed thousands
// of files is slow to create new ones (ext4 without a journal checks each inode that it could reuse). A user's first
// run does not have this cost.

import { mkdir, rename } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

let count = 0;

/** It is removed at the end, with everything else. */
export async function putAside(path: string): Promise<void> {
  const aside = join(tmpdir(), "aside");
  await mkdir(aside, { recursive: true });
  count++;
  await rename(path, join(aside, `${count}`)).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== "ENOENT") throw error;
  });
}
