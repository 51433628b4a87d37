// Sorts rows by one column. Equal rows stay in the order of their jobs.

import { type Column, cellOf, type ResultRow } from "../model/result.js";
import { compareCells } from "./compare-cells.js";

export interface Sorting {
  readonly column: Column;
  readonly isDescending: boolean;
}

export function sortRows(rows: readonly ResultRow[], { column, isDescending }: Sorting): ResultRow[] {
  return rows.toSorted((a, b) => compareCells(cellOf(a, column), cellOf(b, column), isDescending));
}
