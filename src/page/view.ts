// The page's data, and texts for it.

import type { Cell, PageData, PageRow } from "../model/result.js";
import { formatNumber } from "../report/text/amounts.js";

/** A column, with the index of its cells. */
export interface Field {
  readonly label: string;
  readonly kind: PageData["columns"][number]["kind"];
  readonly index: number;
}

export function fieldsOf({ columns }: PageData): Field[] {
  return columns.map(({ label, kind }, index) => ({ label, kind, index }));
}

export function cellAt(row: PageRow, { index }: Field): Cell {
  return row.cells[index] ?? null;
}

export function formatCell(cell: Cell): string {
  if (cell === null) return "";
  return typeof cell === "number" ? formatNumber(cell) : cell;
}

const MOST_LINES = 16;

/** `first`, then one line per parameter and metric, up to a limit. */
export function describeRow(first: string, row: PageRow, fields: readonly Field[]): string {
  const lines = fields
    .filter((field) => field.kind === "parameter" || field.kind === "metric")
    .filter((field) => cellAt(row, field) !== null)
    .map((field) => `${field.label} = ${formatCell(cellAt(row, field))}`);
  const more = lines.length > MOST_LINES ? ["…"] : [];
  return [first, ...lines.slice(0, MOST_LINES), ...more].join("\n");
}

export function describeJob({ job, state }: PageRow): string {
  return `job ${job}, ${state}`;
}
