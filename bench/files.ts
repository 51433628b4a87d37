// Checks that the work was done: throws if an expected file is missing.

import { readdir, stat } from "node:fs/promises";

export async function countFiles(dir: string, wanted: number): Promise<void> {
  const entries = await readdir(dir, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile()).length;
  if (files !== wanted) throw new Error(`${dir} has ${files} files, not ${wanted}`);
}

export async function countBytes(path: string, wanted: number): Promise<void> {
  const { size } = await stat(path);
  if (size !== wanted) throw new Error(`${path} has ${size} bytes, not ${wanted}`);
}
