// Makes written files safe on the local disk, so that their originals may be removed.

import { execFile } from "node:child_process";
import { open } from "node:fs/promises";
import path from "node:path";
import pLimit from "p-limit";

/** Syncing one file takes about a millisecond. Syncing the whole disk takes longer if other programs have written to it. */
const FEW = 50;
const AT_ONCE = 8;

/** `names` are files and directories below `dir`. */
export async function syncAll(dir: string, names: readonly string[]): Promise<void> {
  if (names.length > FEW && (await syncDisk(dir))) return;
  const limit = pLimit(AT_ONCE);
  await Promise.all(names.map((name) => limit(() => syncOne(path.join(dir, name)))));
}

/** False if `sync` cannot sync a single disk. */
function syncDisk(dir: string): Promise<boolean> {
  return new Promise((resolve) => execFile("sync", ["-f", dir], (error) => resolve(error === null)));
}

async function syncOne(path: string): Promise<void> {
  const handle = await open(path, "r");
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
