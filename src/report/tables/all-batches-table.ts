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
  const lines = rows.length === 0 ? [] : alignedLines([HEAD, ...rows], look.signs);
  return [...lines, ...more].map((line) => fitWidth(line, look.rowColumns, ellipsis));
}

/** Each problem of a machine once, whichever batches it has. */
export function unreachedNotes(batches: readonly AnyBatch[]): string[] {
  const unreached = batches.flatMap((batch) => (batch.kind === "known" ? batch.unreached : []));
  return [...new Set(unreached.map(({ machine, reason }) => `${machine} cannot be asked: ${reason}`))];
}

function isOver(batch: AnyBatch): boolean {
  return (
    batch.kind === "unreadable" || (!batch.isAtWork && batch.counts.waiting + batch.counts.running === 0)
  );
}

function rowOf(batch: AnyBatch, look: AllLook): Row {
  const about = {
    batch: printable(batch.stem),
    directory: printable(tildePath(batch.directory, look.homeDir)),
  };
  if (batch.kind === "unreadable")
    return { ...about, state: "unknown", time: "", left: "", jobs: printable(batch.problem) };
  const { counts, isAtWork, elapsedMs, timeLeftMs } = batch;
  return {
    ...about,
    state: batchWord(counts, isAtWork),
    time: formatDuration(elapsedMs),
    left: timeLeftMs === null ? "" : `~${formatRoughDuration(timeLeftMs)}`,
    jobs: seenText(batch, look.now) + countsText(batch, look.signs),
  };
}

/** Facts of the past are marked as such. */
function seenText({ seenAt, unreached }: Known, now: number): string {
  return unreached.length === 0 ? "" : `last seen ${formatAge(Math.max(0, now - seenAt))} ago: `;
}

function countsText({ counts, toCollect }: Known, { separator }: Signs): string {
  const { running, waiting, ...ended } = counts;
  const parts = { ...ended, "to collect": toCollect, running, waiting };
  return Object.entries(parts)
    .filter(([, amount]) => amount > 0)
    .map(([what, amount]) => `${amount} ${what}`)
    .join(separator);
}

function alignedLines(rows: readonly Row[], { ellipsis }: Signs): string[] {
  const short = rows.map((row) => ({
    ...row,
    batch: fitWidthKeepingEnd(row.batch, WIDEST_BATCH, ellipsis),
    directory: fitWidthKeepingEnd(row.directory, WIDEST_DIRECTORY, ellipsis),
  }));
  const widthOf = (key: keyof Row) => Math.max(...short.map((row) => textWidth(row[key])));
  const widths = {
    state: widthOf("state"),
    batch: widthOf("batch"),
    time: widthOf("time"),
    left: widthOf("left"),
    directory: widthOf("directory"),
  };
  return short.map((row) =>
    [
      padWidth(row.state, widths.state),
      padWidth(row.batch, widths.batch),
      row.time.padStart(widths.time),
      row.left.padStart(widths.left),
      padWidth(row.directory, widths.directory),
      row.jobs,
    ]
      .join(GAP)
      .trimEnd(),
  );
}

/** One object per batch, in the format that docs/json-events.md promises to keep. */
export function allBatchesJson(batches: readonly AnyBatch[]): string[] {
  return batches.map((batch) => escapeC1(JSON.stringify({ v: VERSION, ...jsonOf(batch) })));
}

function jsonOf(batch: AnyBatch): object {
  const { kind, directory, stem } = batch;
  if (batch.kind === "unreadable") return { kind, directory, stem, problem: batch.problem };
  const { counts, isAtWork, toCollect, elapsedMs, timeLeftMs, follower, seenAt, unreached } = batch;
  const state = batchWord(counts, isAtWork);
  const facts = { counts, toCollect, elapsedMs, timeLeftMs, follower, seenAt };
  const machines = unreached.map(({ machine, reason }) => ({ machine, reason }));
  return { kind, directory, stem, batch: batch.batch, state, ...facts, unreached: machines };
}
