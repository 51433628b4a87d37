// The order of cells, here and on the page: numbers, also those that were typed, then texts, and nothing at the end.

import type { Cell } from "../model/result.js";
import { isNumber } from "../model/sweep.js";

export function compareCells(a: Cell, b: Cell, isDescending: boolean): number {
  const ranks = rankOf(a) - rankOf(b);
  if (ranks !== 0) return ranks;
  const difference =
    typeof a === "string" && !isNumber(a) ? compareTexts(a, String(b)) : Number(a) - Number(b);
  return isDescending ? -difference : difference;
}

/** What has no number stays below what has one, whichever way is asked for: the best are at the top. */
function rankOf(cell: Cell): number {
  if (cell === null) return 2;
  return typeof cell === "number" || isNumber(cell) ? 0 : 1;
}

function compareTexts(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}
