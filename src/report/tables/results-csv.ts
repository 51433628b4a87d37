// `sshoal results --csv`, for spreadsheets and data frames: one line per row.

import { type Cell, cellOf, type ResultTable } from "../../model/result.js";
import { isNumber } from "../../model/sweep.js";
import { printable } from "../text/printable.js";

/** Each line with its newline. */
export function formatCsv({ columns, rows }: ResultTable): string {
  const lines = [
    columns.map(({ label }) => label),
    ...rows.map((row) => columns.map((column) => cellOf(row, column))),
  ];
  return lines.map((cells) => `${cells.map(csvCell).join(",")}\n`).join("");
}

export function csvCell(cell: Cell): string {
  if (cell === null) return "";
  const text = typeof cell === "number" ? String(cell) : withoutFormula(printable(cell));
  return /[",\t]|^ | $/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/** A spreadsheet would evaluate these as formulas, which can do harm. */
function withoutFormula(text: string): string {
  return /^[=+\-@\t]/.test(text) && !isNumber(text) ? `'${text}` : text;
}
