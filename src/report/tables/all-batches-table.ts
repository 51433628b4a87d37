// `sshoal status --all`: one row for each batch of this computer.

import { type AnyBatch, batchWord } from "../../model/batch-status.js";
import { escapeC1 } from "../lines/json-lines.js";
import { formatAge, formatDuration, formatRoughDuration } from "../text/amounts.js";
import { printable } from "../text/printable.js";
import type { Signs } from "../text/signs.js";
import { tildePath } from "../text/tilde-path.js";
import { fitWidth, fitWidthKeepingEnd, padWidth, textWidth } from "../text/width.js";
import type { StatusLook } from "./status-rows.js";

const VERSION = 2;
const GAP = "  ";
/** Of batches that have ended. */
const LISTED = 20;
const WIDEST_BATCH = 30;
const WIDEST_DIRECTORY = 40;
/** Of a batch or directory on a narrow terminal. */
const NARROWEST = 12;

type Known = Extract<AnyBatch, { kind: "known" }>;

interface Row {
  readonly state: string;
  readonly batch: string;
  readonly time: string;
  readonly left: string;
  readonly directory: string;
  readonly jobs: string;
}

const HEAD: Row = {
  state: "STATE",
  batch: "BATCH",
  time: "TIME",
  left: "LEFT",
  directory: "DIRECTORY",
  jobs: "JOBS",
};

export interface AllLook extends StatusLook {
  readonly homeDir: string;
  readonly now: number;
}

/** Lines without their newlines. `batches`: in the order of their rows. */
export function allBatchesLines(batches: readonly AnyBatch[], look: AllLook): string[] {
  const { ellipsis } = look.signs;
  const open = batches.filter((batch) => !isOver(batch));
  const over = batches.filter(isOver);
  const rows = [...open, ...over.slice(0, LISTED)].map((batch) => rowOf(batch, look));
  const left = over.length - LISTED;
  const more = left > 0 ? [`${ellipsis} ${left} more; --json lists all`] : [];
  const lines = rows.length === 0 ? [] : alignedLines([HEAD, ...rows], look.rowColumns, look.signs);
  return [...lines, ...more].map((line) => fitWidth(line, look.rowColumns, ellipsis));
}

/** Each problem of a machine once, whichever batches it has. */
export function unreachedNotes(batches: readonly AnyBatch[]): string[] {
  const unreached = batches.flatMap((batch) => (batch.kind === "known" ? batch.unreached : []));
  return [...new Set(unreached.map(({ machine, reason }) => `${machine} cannot be asked: ${reason}`))];
}

function isOver(batch: AnyBatch): boolean {
  if (batch.kind === "unreadable") return true;
  const { counts, leftOut, isAtWork } = batch;
  return !isAtWork && counts.waiting - leftOut + counts.running === 0;
}

function rowOf(batch: AnyBatch, look: AllLook): Row {
  const about = {
    batch: printable(batch.stem),
    directory: printable(tildePath(batch.directory, look.homeDir)),
  };
  if (batch.kind === "unreadable")
    return { ...about, state: "unknown", time: "", left: "", jobs: printable(batch.problem) };
  const { counts, leftOut, isAtWork, elapsedMs, timeLeftMs } = batch;
  return {
    ...about,
    state: batchWord(counts, isAtWork, leftOut),
    time: formatDuration(elapsedMs),
    left: timeLeftMs === null ? "" : `~${formatRoughDuration(timeLeftMs)}`,
    jobs: seenText(batch, look.now) + countsText(batch, look.signs),
  };
}

/** Facts of the past are marked as such. */
function seenText({ seenAt, unreached }: Known, now: number): string {
  return unreached.length === 0 ? "" : `last seen ${formatAge(Math.max(0, now - seenAt))} ago: `;
}

function countsText({ counts, leftOut, toCollect }: Known, { separator }: Signs): string {
  const { running, waiting, ...ended } = counts;
  const parts = {
    ...ended,
    "to collect": toCollect,
    running,
    "left out": leftOut,
    waiting: waiting - leftOut,
  };
  return Object.entries(parts)
    .filter(([, amount]) => amount > 0)
    .map(([what, amount]) => `${amount} ${what}`)
    .join(separator);
}

function alignedLines(rows: readonly Row[], columns: number, { ellipsis }: Signs): string[] {
  const widths = columnWidths(rows, columns);
  return rows.map((row) =>
    [
      padWidth(row.state, widths.state),
      padWidth(fitWidthKeepingEnd(row.batch, widths.batch, ellipsis), widths.batch),
      row.time.padStart(widths.time),
      ...(widths.left === 0 ? [] : [row.left.padStart(widths.left)]),
      padWidth(fitWidthKeepingEnd(row.directory, widths.directory, ellipsis), widths.directory),
      row.jobs,
    ]
      .join(GAP)
      .trimEnd(),
  );
}

/** Where a row is too long, the directory gives up room first, then the batch. `left` is 0 where no batch has it. */
function columnWidths(rows: readonly Row[], columns: number): Record<keyof Row, number> {
  const widthOf = (key: keyof Row) => Math.max(...rows.map((row) => textWidth(row[key])));
  const hasLeft = rows.some((row) => row !== HEAD && row.left !== "");
  const widths = {
    state: widthOf("state"),
    batch: Math.min(widthOf("batch"), WIDEST_BATCH),
    time: widthOf("time"),
    left: hasLeft ? widthOf("left") : 0,
    directory: Math.min(widthOf("directory"), WIDEST_DIRECTORY),
    jobs: widthOf("jobs"),
  };
  const shown = Object.values(widths).filter((width) => width > 0);
  const taken = shown.reduce((sum, width) => sum + width, (shown.length - 1) * GAP.length);
  const directory = shrink(widths.directory, taken - columns);
  const batch = shrink(widths.batch, taken - columns - (widths.directory - directory));
  return { ...widths, batch, directory };
}

function shrink(width: number, excess: number): number {
  return excess <= 0 ? width : Math.min(width, Math.max(NARROWEST, width - excess));
}

/** One object per batch, in the format that docs/json-events.md promises to keep. */
export function allBatchesJson(batches: readonly AnyBatch[]): string[] {
  return batches.map((batch) => escapeC1(JSON.stringify({ v: VERSION, ...jsonOf(batch) })));
}

function jsonOf(batch: AnyBatch): object {
  const { kind, directory, stem } = batch;
  if (batch.kind === "unreadable") return { kind, directory, stem, problem: batch.problem };
  const {
    counts,
    leftOut,
    isAtWork,
    toCollect,
    elapsedMs,
    timeLeftMs,
    follower,
    apiSocket,
    seenAt,
    unreached,
  } = batch;
  const state = batchWord(counts, isAtWork, leftOut);
  const facts = { counts, leftOut, toCollect, elapsedMs, timeLeftMs, follower, apiSocket, seenAt };
  const machines = unreached.map(({ machine, reason }) => ({ machine, reason }));
  return { kind, directory, stem, batch: batch.batch, state, ...facts, unreached: machines };
}
