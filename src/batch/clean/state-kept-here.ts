// What this user's commands know of each other, as `sshoal clean --here` shows it: it is small, in use, and stays.

import { readdirSync } from "node:fs";
import path from "node:path";
import type { KeptHere, KeptSort } from "../../model/kept-here.js";
import { weigh } from "./batch-kept-here.js";

interface Sort {
  /** What the names of its directories begin with: one directory for each computer that shares the home. */
  readonly start: string;
  readonly what: KeptSort;
  readonly reason: string;
}

const SORTS: readonly Sort[] = [
  { start: "directories@", what: "known directories", reason: "sshoal status --all reads them" },
  { start: "notices@", what: "notifications", reason: "--notify needs them" },
];

/** `stateDir`: null: there is none. */
export async function stateKeptHere(stateDir: string | null): Promise<KeptHere[]> {
  if (stateDir === null) return [];
  const rows: KeptHere[] = [];
  for (const { start, what, reason } of SORTS) {
    const dirs = listBelow(stateDir).filter((dir) => path.basename(dir).startsWith(start));
    const places = dirs.flatMap(listBelow);
    const row = { what, count: places.length, reason, places };
    if (places.length > 0) rows.push(await weigh(row, { place: stateDir, batch: null }));
  }
  return rows;
}

/** Nothing, where it is no directory or cannot be read. */
function listBelow(dir: string): string[] {
  try {
    return readdirSync(dir)
      .sort()
      .map((name) => path.join(dir, name));
  } catch {
    return [];
  }
}
