// The table of `sshoal clean`: for each machine what batches left, its size, and what happened to it.

import type { LeftTree } from "../../model/left-over.js";
import { formatBytes, formatDuration } from "../text/amounts.js";
import { printable } from "../text/printable.js";
import { fitWidth, fitWidthKeepingEnd, padWidth, textWidth } from "../text/width.js";
import { wrap } from "../text/wrap.js";

export type CleanedMachine = { readonly machine: string } & (
  | { readonly kind: "looked"; readonly rows: readonly LeftRow[] }
  | { readonly kind: "failed"; readonly reason: string; readonly hint: string | null }
);

export interface LeftRow {
  readonly what: "batch" | "tree";
  readonly name: string;
  readonly bytes: number;
  /** Null: unknown, or it does not matter. */
  readonly ageSeconds: LeftTree["ageSeconds"];
  readonly end: "removed" | "would be removed" | "kept" | "could not be removed";
  /** Why it was kept. */
  readonly reason: string | null;
}

const INDENT = "  ";
const GAP = "  ";
const WIDEST_NAME = 40;
const TREE_LETTERS = 12;

/** Lines of at most `columns`, each with its newline. */
export function formatLeftOver(machines: readonly CleanedMachine[], columns = 80): string {
  const rows = machines.flatMap((each) => (each.kind === "looked" ? each.rows : []));
  const widths = {
    name: Math.max(0, ...rows.map((row) => textWidth(nameOf(row)))),
    size: Math.max(0, ...rows.map(({ bytes }) => formatBytes(bytes).length)),
  };
  const lines = [
    ...machines.flatMap((each) => [printable(each.machine), ...machineLines(each, widths, columns)]),
    totalLine(rows),
  ];
  return lines.map((line) => `${fitWidth(line, columns)}\n`).join("");
}

interface Widths {
  readonly name: number;
  readonly size: number;
}

function machineLines(machine: CleanedMachine, widths: Widths, columns: number): string[] {
  if (machine.kind === "failed") {
    const notes = [machine.reason, machine.hint ?? ""];
    return notes.flatMap((note) => wrap(note, columns - textWidth(INDENT)).map((line) => INDENT + line));
  }
  if (machine.rows.length === 0) return [`${INDENT}nothing is left on it`];
  return machine.rows.flatMap((row) => rowLines(row, widths, columns));
}

function rowLines(row: LeftRow, widths: Widths, columns: number): string[] {
  const cells = [
    row.what.padEnd("batch".length),
    padWidth(nameOf(row), widths.name),
    formatBytes(row.bytes).padStart(widths.size),
  ];
  const start = `${INDENT}${cells.join(GAP)}${GAP}`;
  const below = " ".repeat(textWidth(start));
  return wrap(endText(row), columns - below.length).map(
    (line, index) => (index === 0 ? start : below) + line,
  );
}

/** A tree is known by its first letters; batches differ in their last letters. */
function nameOf({ what, name }: LeftRow): string {
  return what === "tree"
    ? fitWidth(printable(name), TREE_LETTERS, "")
    : fitWidthKeepingEnd(printable(name), WIDEST_NAME);
}

function endText({ end, reason, ageSeconds }: LeftRow): string {
  const parts = [reason === null ? end : `${end}: ${reason}`];
  if (ageSeconds !== null) parts.push(`${formatDuration(ageSeconds * 1000)} old`);
  return parts.join(", ");
}

type Weighed = Pick<LeftRow, "bytes" | "end">;

/** How much it is in all, and how much of it goes. */
export function totalLine(rows: readonly Weighed[]): string {
  const sum = (some: readonly Weighed[]) => formatBytes(some.reduce((total, { bytes }) => total + bytes, 0));
  const goes = rows.filter(({ end }) => end === "removed" || end === "would be removed");
  const isDryRun = goes.some(({ end }) => end === "would be removed");
  const gone =
    goes.length === 0 ? "nothing to remove" : `${isDryRun ? "would remove" : "removed"} ${sum(goes)}`;
  return `total: ${sum(rows)}; ${gone}`;
}
