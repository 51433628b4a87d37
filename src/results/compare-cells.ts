// The order of cells, in the terminal and on the page: numbers (also typed ones), then texts, then empty cells.

import type { Cell } from "../model/result.js";
import { isNumber } from "../model/sweep.js";

export function compareCells(a: Cell, b: Cell, isDescending: boolean): number {
  const ranks = rankOf(a) - rankOf(b);
  if (ranks !== 0) return ranks;
  const difference =
    typeof a === "string" && !isNumber(a) ? compareTexts(a, String(b)) : Number(a) - Number(b);
  return isDescending ? -difference : difference;
}

/** Cells without a number come after numbers in both directions, so that the best are at the top. */
function rankOf(cell: Cell): number {
  if (cell === null) return 2;
  return typeof cell === "number" || isNumber(cell) ? 0 : 1;
}

function compareTexts(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}
