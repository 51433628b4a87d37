// The table of `sshoal clean --here`: what is kept on this computer, place by place, and what became of it.

import type { KeptHere } from "../../model/kept-here.js";
import { escapeC1 } from "../lines/json-lines.js";
import { formatBytes, formatDuration } from "../text/amounts.js";
import { printable } from "../text/printable.js";
import { fitWidth, fitWidthKeepingEnd, padWidth, textWidth } from "../text/width.js";
import { wrap } from "../text/wrap.js";
import { totalLine } from "./left-over-table.js";

const INDENT = "  ";
const GAP = "  ";
const WIDEST_NAME = 24;
const VERSION = 1;

/** Lines of at most `columns`, each with its newline. */
export function formatKeptHere(rows: readonly KeptHere[], columns = 80): string {
  const cells = rows.map(cellsOf);
  const widths = [0, 1, 2, 3].map((at) => Math.max(0, ...cells.map((row) => textWidth(row[at] ?? ""))));
  const places = [...new Set(rows.map(({ place }) => place))];
  const lines = places.flatMap((place) => [
    printable(place),
    ...rows.flatMap((row, index) =>
      row.place === place ? rowLines(row, cells[index] ?? [], { widths, columns }) : [],
    ),
  ]);
  const all = rows.length === 0 ? ["nothing is kept here"] : [...lines, totalLine(rows)];
  return all.map((line) => `${fitWidth(line, columns)}\n`).join("");
}

/** One object per row. */
export function keptHereJson(rows: readonly KeptHere[]): string {
  return rows
    .map(({ what, place, batch, count, bytes, ageSeconds, end, reason, names }) => {
      const about = { place, batch, count, bytes, ageSeconds, end, reason, names };
      return `${escapeC1(JSON.stringify({ v: VERSION, kind: "kept-here", what, ...about }))}\n`;
    })
    .join("");
}

function cellsOf({ what, batch, count, bytes }: KeptHere): string[] {
  const name = batch === null ? "" : fitWidthKeepingEnd(printable(batch), WIDEST_NAME);
  return [what, name, String(count), formatBytes(bytes)];
}

interface Widths {
  readonly widths: readonly number[];
  readonly columns: number;
}

/** Numbers to the right. A column that is empty in all rows takes no room. */
function rowLines(row: KeptHere, cells: readonly string[], { widths, columns }: Widths): string[] {
  const padded = cells.map((cell, at) => {
    const width = widths[at] ?? 0;
    return at < 2 ? padWidth(cell, width) : cell.padStart(width);
  });
  const start = `${INDENT}${padded.filter((_, at) => widths[at] !== 0).join(GAP)}${GAP}`;
  const below = " ".repeat(textWidth(start));
  return wrap(endText(row), columns - below.length).map(
    (line, index) => (index === 0 ? start : below) + line,
  );
}

function endText({ end, reason, ageSeconds, count }: KeptHere): string {
  const parts = [reason === null ? end : `${end}: ${printable(reason)}`];
  const age = formatDuration((ageSeconds ?? 0) * 1000);
  if (ageSeconds !== null) parts.push(count === 1 ? `${age} old` : `the oldest is ${age} old`);
  return parts.join(", ");
}
