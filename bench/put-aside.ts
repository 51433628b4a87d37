// What a round left goes out of the way of the next by a rename. Removing it would: a filesystem that has just removed
// thousands of files is slow to make new ones (ext4 without a journal looks at each that it could use again), as it
// never is for whoever does this for the first time.

import { mkdir, rename } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

let count = 0;

/** It is removed with everything else, in the end. */
export async function putAside(path: string): Promise<void> {
  const aside = join(tmpdir(), "aside");
  await mkdir(aside, { recursive: true });
  count++;
  await rename(path, join(aside, `${count}`)).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== "ENOENT") throw error;
  });
}
