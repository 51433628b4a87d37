// The table of `top` and `probe`: a row per card and one per machine for its cores and memory, aligned over all machines.

import type { RoomLook } from "../../model/room-look.js";
import { type Canvas, type Span, span } from "../live/styled-text.js";
import { formatDuration } from "../text/amounts.js";
import { printable } from "../text/printable.js";
import { fitWidth, fitWidthKeepingEnd, padWidth, textWidth } from "../text/width.js";
import { type RoomRow, roomRows } from "./room-rows.js";

/** "machine": as the machines were named. */
export type RoomOrder = "machine" | "memory" | "use" | "who";

/** Columns only grow, so that the view does not jump. */
export interface RoomWidths {
  readonly machine: number;
  readonly label: number;
  readonly memory: number;
}

export const NARROWEST: RoomWidths = { machine: 7, label: 10, memory: 9 };
const WIDEST_MACHINE = 24;
const WIDEST_LABEL = 18;
const BAR = 10;
/** Below this width there is no bar. */
const COLUMNS_FOR_BAR = 60;
/** A machine that has not answered for this long may hang. */
const SILENT_MS = 10_000;

type Placed = { readonly machine: string } & (
  | { readonly row: RoomRow; readonly note: null }
  | { readonly row: null; readonly note: Span }
);

/** The lines, each as spans, and the widths for the next drawing. */
export function roomTable(
  looks: readonly RoomLook[],
  order: RoomOrder,
  canvas: Canvas,
  before = NARROWEST,
): { readonly lines: Span[][]; readonly widths: RoomWidths } {
  const placed = sortRows(
    looks.flatMap((look) => placedRows(look, canvas.now)),
    order,
  );
  const widths = widthsOf(placed, before);
  const lines = placed.map((each, index) => {
    const isFirst = each.machine !== placed[index - 1]?.machine;
    return lineOf(each, isFirst, widths, canvas);
  });
  return { lines: [headings(widths, canvas), ...lines], widths };
}

function placedRows(look: RoomLook, now: number): Placed[] {
  const { machine } = look;
  switch (look.kind) {
    case "connecting":
      return [{ machine, row: null, note: span("connecting", "dim") }];
    case "unreachable":
      return [{ machine, row: null, note: span(unreachableWords(look, now), "warn") }];
    case "seen": {
      const rows = roomRows(look.capacity).map((row): Placed => ({ machine, row, note: null }));
      const silentMs = now - look.at;
      if (silentMs < SILENT_MS) return rows;
      return [
        ...rows,
        { machine, row: null, note: span(`no answer for ${formatDuration(silentMs)}`, "warn") },
      ];
    }
    default:
      return look satisfies never;
  }
}

/** `unreachable for 1m20s, trying again: connection refused` */
function unreachableWords(look: Extract<RoomLook, { kind: "unreachable" }>, now: number): string {
  const { since, isRetried, reason } = look;
  const time = since === null ? "" : ` for ${formatDuration(now - since)}`;
  return `unreachable${time}${isRetried ? ", trying again" : ""}: ${printable(reason)}`;
}

function sortRows(rows: readonly Placed[], order: RoomOrder): Placed[] {
  if (order === "machine") return [...rows];
  return [...rows].sort((one, other) => compare(one.row, other.row, order));
}

/** Rows without the value come last. */
function compare(one: RoomRow | null, other: RoomRow | null, order: "memory" | "use" | "who"): number {
  if (one === null || other === null) return Number(one === null) - Number(other === null);
  if (order === "memory") return usedMb(other) - usedMb(one);
  if (order === "use") return (other.use ?? -1) - (one.use ?? -1);
  if (one.who === "" || other.who === "") return Number(one.who === "") - Number(other.who === "");
  return one.who.localeCompare(other.who);
}

function usedMb({ memory }: RoomRow): number {
  return memory === null ? -1 : memory.oursMb + memory.othersMb;
}

function widthsOf(placed: readonly Placed[], before: RoomWidths): RoomWidths {
  const widest = (least: number, texts: readonly string[]) => Math.max(least, ...texts.map(textWidth));
  const rows = placed.flatMap(({ row }) => row ?? []);
  return {
    machine: Math.min(
      WIDEST_MACHINE,
      widest(
        before.machine,
        placed.map(({ machine }) => printable(machine)),
      ),
    ),
    label: Math.min(
      WIDEST_LABEL,
      widest(
        before.label,
        rows.map(({ label }) => label),
      ),
    ),
    memory: widest(before.memory, rows.map(memoryText)),
  };
}

function headings(widths: RoomWidths, { columns }: Canvas): Span[] {
  const bar = columns < COLUMNS_FOR_BAR ? 0 : BAR + 1;
  const cells = [
    padWidth("MACHINE", widths.machine + 1),
    padWidth("CARD", widths.label + 2),
    padWidth("MEMORY GB", widths.memory + bar),
    "USE".padStart(6),
    "  WHO",
  ];
  return [span(cells.join(""), "dim")];
}

function lineOf(
  { machine, row, note }: Placed,
  isFirst: boolean,
  widths: RoomWidths,
  canvas: Canvas,
): Span[] {
  const { ellipsis } = canvas.look;
  const name = isFirst ? fitWidthKeepingEnd(printable(machine), widths.machine, ellipsis) : "";
  const start = span(padWidth(name, widths.machine + 1));
  if (row === null) return [start, note];
  return [
    start,
    span(padWidth(fitWidth(row.label, widths.label, ellipsis), widths.label + 2)),
    span(memoryText(row).padStart(widths.memory)),
    ...barSpans(row, canvas),
    span(useText(row).padStart(6)),
    span(row.who === "" ? "" : `  ${row.who}`),
  ];
}

function memoryText({ memory }: RoomRow): string {
  return memory === null
    ? "-"
    : `${gigabytes(memory.oursMb + memory.othersMb)}/${wholeGigabytes(memory.totalMb)}`;
}

function gigabytes(mb: number): string {
  return (mb / 1024).toFixed(1);
}

function wholeGigabytes(mb: number): string {
  return mb < 10 * 1024 ? gigabytes(mb) : String(Math.round(mb / 1024));
}

function useText({ use }: RoomRow): string {
  return use === null ? "-" : `${Math.round(use * 100)}%`;
}

function barSpans({ memory }: RoomRow, { columns, look }: Canvas): Span[] {
  if (columns < COLUMNS_FOR_BAR) return [];
  if (memory === null) return [span(" ".repeat(BAR + 1))];
  const { oursMb, othersMb, totalMb } = memory;
  const cells = (mb: number) => Math.min(BAR, Math.round((mb / Math.max(1, totalMb)) * BAR));
  const ours = cells(oursMb);
  const used = Math.max(ours, cells(oursMb + othersMb));
  return [
    span(" "),
    span(look.memory.ours.repeat(ours), "busy"),
    span(look.memory.others.repeat(used - ours), "warn"),
    span(look.memory.free.repeat(BAR - used), "dim"),
  ];
}
