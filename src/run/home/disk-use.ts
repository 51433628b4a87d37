// How much room a file or a directory takes on this computer's disk.

import { lstat, readdir } from "node:fs/promises";
import path from "node:path";

/** With all that is below it; links are not followed. What cannot be read, or is gone meanwhile, counts as nothing. */
export async function diskUse(place: string): Promise<number> {
  const stats = await lstat(place).catch(() => null);
  if (stats === null) return 0;
  let bytes = stats.blocks * 512;
  if (!stats.isDirectory()) return bytes;
  // One after the other: a directory may have more entries than a process may have descriptors.
  for (const name of await readdir(place).catch(() => [])) bytes += await diskUse(path.join(place, name));
  return bytes;
}
