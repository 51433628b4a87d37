// Rows of jobs as lines of the live view, in columns whose widths stay the same while jobs change.

import { jobLabel } from "../../model/job-label.js";
import { formatDuration, formatRoughDuration } from "../text/amounts.js";
import { printable } from "../text/printable.js";
import type { Signs } from "../text/signs.js";
import { fitWidth, fitWidthKeepingEnd, padWidth, textWidth } from "../text/width.js";
import { jobNames } from "./job-names.js";
import type { JobRow } from "./job-rows.js";
import { whereWidth } from "./place.js";
import { type Canvas, formatSpans, type Span, type Style, span } from "./styled-text.js";
import type { ViewState } from "./view-state.js";

const STYLES: Readonly<Record<keyof Signs["states"], Style>> = {
  succeeded: "good",
  failed: "bad",
  running: "busy",
  waiting: "dim",
  stopped: "normal",
  lost: "lost",
  skipped: "dim",
  silent: "warn",
};

const WIDEST_LABEL = 20;
const TIME_WIDTH = "59m59s".length;
const LEFT_WIDTH = "~59m".length;
const NARROWEST_WHAT = "GPU memory".length;
const BAR_CELLS = 10;
const BAR_WIDTH = "100% ".length + BAR_CELLS;
/** With fewer columns, the job's description and its last output share one column. */
const ROOM_FOR_BOTH = 32;
/** Wider terminals have room for a job's own progress. */
const COLUMNS_FOR_PROGRESS = 120;

interface Widths {
  readonly label: number;
  readonly where: number;
  /** 0: it shares a column with the job's last output. */
  readonly what: number;
  /** True if the progress of each job has its own columns. */
  readonly hasProgress: boolean;
}

export function jobLines(rows: readonly JobRow[], view: ViewState, canvas: Canvas): string[] {
  const widths = widthsOf(view, canvas);
  return rows.map((row) => formatSpans(cellsOf(row, widths, canvas), canvas));
}

export function isWide({ columns }: Canvas): boolean {
  return columns >= COLUMNS_FOR_PROGRESS;
}

function widthsOf(view: ViewState, canvas: Canvas): Widths {
  const { columns } = canvas;
  const names = jobNames(view.state.jobs);
  const label = Math.min(WIDEST_LABEL, names.labelWidth);
  const where = Math.min(Math.max("waits".length, Math.floor(columns * 0.3)), whereWidth(view));
  const hasProgress = isWide(canvas) && view.hasProgress;
  const fixed = 2 + label + 2 + where + 2 + TIME_WIDTH + 2;
  const room = columns - fixed - (hasProgress ? LEFT_WIDTH + 2 + BAR_WIDTH + 2 : 0);
  const wanted = Math.max(NARROWEST_WHAT, isWide(canvas) ? names.wideWidth : names.whatWidth);
  const what = room < ROOM_FOR_BOTH ? 0 : Math.min(wanted, Math.floor(room * 0.45));
  return { label, where, what, hasProgress };
}

function cellsOf(row: JobRow, widths: Widths, { look }: Canvas): Span[] {
  const label = fitWidthKeepingEnd(printable(jobLabel(row.job)), widths.label, look.ellipsis);
  const where = fitWidthKeepingEnd(row.where, widths.where, look.ellipsis);
  const time = row.timeMs === null ? "" : formatDuration(row.timeMs);
  return [
    span(look.states[row.state], STYLES[row.state]),
    span(` ${" ".repeat(widths.label - textWidth(label))}${label}  `),
    span(`${padWidth(where, widths.where)}  `),
    span(`${time.padStart(TIME_WIDTH)}  `, row.state === "running" ? "busy" : "normal"),
    ...(widths.hasProgress ? [span(`${leftText(row).padStart(LEFT_WIDTH)}  `)] : []),
    ...textCells(row, widths, look),
  ];
}

/** `~2m`: the estimate from the elapsed time and the progress. */
function leftText({ state, progress, timeMs }: JobRow): string {
  if (state === "silent") return "?";
  if (progress === null || progress === 0 || timeMs === null) return "";
  return fitWidth(`~${formatRoughDuration((timeMs * (1 - progress)) / progress)}`, LEFT_WIDTH, "");
}

/** A waiting job only shows its reason. A job without output leaves that room to its description. */
function textCells(row: JobRow, { what: width, hasProgress }: Widths, look: Signs): Span[] {
  const { state, what, said, isReason } = row;
  const reason = span(said, state === "silent" ? "warn" : isReason ? "normal" : "dim");
  if (state === "waiting") return [reason];
  if (said === "") return [span(what)];
  if (width === 0 && state === "failed") return [span(`${what}  `), reason];
  if (width === 0) return [isReason ? reason : span(what)];
  // How a job failed is short, and never cut.
  const shown = state === "failed" ? what : fitWidth(what.replaceAll("\t", " "), width, look.ellipsis);
  const cell = padWidth(shown, width);
  const isUnderWay = state === "running" || state === "silent";
  return [span(`${cell}  `), ...(hasProgress && isUnderWay ? barCells(row.progress, look) : []), reason];
}

/** ` 67% ━━━━━━━───`. */
function barCells(progress: number | null, { bar }: Signs): Span[] {
  if (progress === null) return [span(" ".repeat(BAR_WIDTH + 2))];
  const done = Math.round(progress * BAR_CELLS);
  return [
    span(`${progress < 1 ? Math.min(99, Math.round(progress * 100)) : 100}%`.padStart(4)),
    span(` ${bar.done.repeat(done)}`, "good"),
    span(`${bar.waiting.repeat(BAR_CELLS - done)}  `, "dim"),
  ];
}
