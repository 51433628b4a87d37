// `sshoal results`: one line per job, with as many columns as fit the terminal.

import { shortCommand } from "../../model/job.js";
import { type Column, cellOf, isBlank, type ResultRow, type ResultTable } from "../../model/result.js";
import { JOB_WORDS } from "../../model/standing.js";
import { isNumber } from "../../model/sweep.js";
import { formatNumber } from "../text/amounts.js";
import { printable } from "../text/printable.js";
import { fitWidth, textWidth } from "../text/width.js";
import { wrap } from "../text/wrap.js";

const GAP = "  ";
const WIDEST = 20;
/** A narrower command is not worth showing. */
const NARROWEST_COMMAND = 16;

/** Lines of at most `columns`, without their newlines. `sorted`: the column that is shown first, or null. */
export function resultLines(table: ResultTable, sorted: Column | null, columns = 80): string[] {
  const filled = table.columns.filter((column) => isWorthIt(column, table));
  const { shown, leftOut } = choose(
    filled.map((column) => layOut(column, table.rows)),
    sorted,
    columns,
  );
  const lines = [
    formatLine(shown.map(({ head }) => head)),
    ...table.rows.map((_, index) => formatLine(shown.map(({ cells }) => cells[index] ?? ""))),
  ];
  const named = leftOut.map(({ column }) => column.label).join(", ");
  const more = leftOut.length === 0 ? [] : wrap(`no room for: ${named}; --csv has all`, columns);
  return [countsLine(table), ...lines, ...more].map((line) => fitWidth(line.trimEnd(), columns));
}

/** Hides the command if there are parameters, the attempt if every job has only one, and what no job has. */
function isWorthIt(column: Column, { columns, rows }: ResultTable): boolean {
  const { kind } = column;
  if (isBlank(column, rows)) return false;
  if (kind === "command") return columns.every((column) => column.kind !== "parameter");
  return kind !== "attempt" || rows.some(({ attempt }) => attempt > 1);
}

interface LaidOut {
  readonly column: Column;
  readonly width: number;
  readonly head: string;
  readonly cells: readonly string[];
}

function layOut(column: Column, rows: readonly ResultRow[]): LaidOut {
  const values = rows.map((row) => (column.kind === "state" ? stateOf(row) : cellOf(row, column)));
  const isNumeric = values.every((value) => typeof value !== "string" || isNumber(value));
  const most = column.kind === "command" ? Number.POSITIVE_INFINITY : WIDEST;
  const texts = [column.label, ...values.map((value) => formatCell(value, column))].map((text) =>
    fitWidth(printable(text), most),
  );
  const width = texts.reduce((widest, text) => Math.max(widest, textWidth(text)), 0);
  const [head = "", ...cells] = texts.map((text) => {
    const room = " ".repeat(width - textWidth(text));
    return isNumeric ? room + text : text + room;
  });
  return { column, width, head, cells };
}

function formatCell(value: number | string | null, { kind }: Column): string {
  if (value === null) return "-";
  if (typeof value === "string") return kind === "command" ? shortCommand({ command: value }) : value;
  return kind === "seconds" || kind === "cpu_seconds" ? value.toFixed(1) : formatNumber(value);
}

const PRIORITY: readonly Column["kind"][] = [
  "job",
  "metric",
  "parameter",
  "state",
  "failure",
  "seconds",
  "memory_mb",
  "gpu_memory_mb",
  "machine",
  "slot",
  "attempt",
  "cpu_seconds",
  "command",
];

/** The most important columns that fit, in the order of the table. A slot without its machine is not shown. */
function choose(laidOut: readonly LaidOut[], sorted: Column | null, columns: number) {
  const rank = ({ column }: LaidOut) => (column === sorted ? 0 : PRIORITY.indexOf(column.kind));
  let room = columns + GAP.length;
  const chosen = new Set<LaidOut>();
  for (const each of laidOut.toSorted((a, b) => rank(a) - rank(b))) {
    const least = each.column.kind === "command" ? Math.min(each.width, NARROWEST_COMMAND) : each.width;
    const fits = least + GAP.length <= room;
    const isNamed = each.column.kind === "metric" || each.column.kind === "parameter";
    if (!fits && !isNamed) break;
    if (!fits) continue;
    room -= each.width + GAP.length;
    chosen.add(each);
  }
  return {
    shown: laidOut.filter((each) => chosen.has(each)),
    leftOut: laidOut.filter((each) => !chosen.has(each)),
  };
}

function formatLine(cells: readonly string[]): string {
  return cells.join(GAP);
}

/** For people: no machine can ever run a job that is left out, so it does not wait. */
function stateOf({ state, leftOut }: ResultRow): string {
  return leftOut === undefined ? state : LEFT_OUT;
}

const LEFT_OUT = "left out";

function countsLine({ batch, rows }: ResultTable): string {
  const counts = [...JOB_WORDS, LEFT_OUT].map(
    (state) => [rows.filter((row) => stateOf(row) === state).length, state] as const,
  );
  const parts = counts.filter(([amount]) => amount > 0).map(([amount, state]) => `${amount} ${state}`);
  return printable(`${batch}: ${parts.join(", ")}`);
}
