// Keeps the caches of this computer within limits: what was not used for longest goes first. Another process may write, read or
// remove entries at the same time. To all of them an entry that is gone is only one that was never there.

import { lstatSync, readdirSync, rmSync, unlinkSync } from "node:fs";
import { join } from "node:path";

export interface CacheLimits {
  readonly entries: number;
  readonly bytes: number;
  /** Of what was not used for so long, nothing stays. Absent: age does not matter. */
  readonly ageMs?: number;
}

const DAY_MS = 24 * 3600 * 1000;

/** By directory below the cache. */
export const CACHE_LIMITS = {
  /** The program as a Node compiled it: a file per build, about half a megabyte each. */
  code: { entries: 10, bytes: 20e6, ageMs: 30 * DAY_MS },
  /** Checksums: a file per working directory, some 100 bytes for each of its files. */
  digests: { entries: 100, bytes: 200e6 },
  /** What ssh programs print without a configuration: some kilobytes for each program. */
  ssh: { entries: 10, bytes: 1e6, ageMs: 30 * DAY_MS },
  /** Lists of trees: a directory per working directory. */
  trees: { entries: 100, bytes: 200e6 },
} as const satisfies Readonly<Record<string, CacheLimits>>;

export interface CacheEntry {
  readonly name: string;
  readonly bytes: number;
  /** When it was last used, as its time says. */
  readonly usedAt: number;
  /** A process was writing it. One that still does has a new one. */
  readonly isDraft: boolean;
}

/** A name with a pid or a random number at its end. */
const DRAFT = /\.(\d+|[0-9a-f]{12})$|^draft-/;
const DRAFT_MS = 3600 * 1000;

/** Of one directory of the cache. What cannot be read is nothing. */
export function listCache(dir: string): CacheEntry[] {
  return list(dir).flatMap((name) => entryAt(dir, name) ?? []);
}

/** Those that are to go, oldest first. `keep`: the one that was just written. Pure. */
export function surplusEntries(
  entries: readonly CacheEntry[],
  limits: CacheLimits,
  { now, keep }: { readonly now: number; readonly keep?: string },
): CacheEntry[] {
  const newestFirst = entries.filter(({ isDraft }) => !isDraft).sort((a, b) => b.usedAt - a.usedAt);
  const stale = entries.filter(({ isDraft, usedAt }) => isDraft && now - usedAt > DRAFT_MS);
  let count = 0;
  let bytes = 0;
  const surplus = newestFirst.filter((entry) => {
    count += 1;
    bytes += entry.bytes;
    if (entry.name === keep) return false;
    const isOld = now - entry.usedAt > (limits.ageMs ?? Number.POSITIVE_INFINITY);
    const goes = isOld || count > limits.entries || bytes > limits.bytes;
    if (goes) {
      count -= 1;
      bytes -= entry.bytes;
    }
    return goes;
  });
  return [...stale, ...surplus.reverse()];
}

/** After `keep` was written to `dir`. */
export function boundCache(dir: string, limits: CacheLimits, keep: string): void {
  for (const { name } of surplusEntries(listCache(dir), limits, { now: Date.now(), keep }))
    removeEntry(join(dir, name));
}

/** False: it stays. */
export function removeEntry(path: string): boolean {
  try {
    if (lstatSync(path).isDirectory()) rmSync(path, { recursive: true, force: true });
    else unlinkSync(path);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "ENOENT";
  }
}

/** A directory is as old as the last change in it, and as large as its files. */
function entryAt(dir: string, name: string): CacheEntry | null {
  const stats = lstatSync(join(dir, name), { throwIfNoEntry: false });
  if (stats === undefined) return null;
  const below = stats.isDirectory() ? listCache(join(dir, name)) : [];
  const bytes = below.reduce((sum, each) => sum + each.bytes, stats.size);
  return { name, bytes, usedAt: stats.mtimeMs, isDraft: DRAFT.test(name) };
}

function list(dir: string): string[] {
  try {
    return readdirSync(dir);
  } catch {
    return [];
  }
}
