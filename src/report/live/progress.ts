// The top of the live view: the bar with the time left, and the counts below it.

import { elapsedMs, timeLeftMs } from "../../model/batch-times.js";
import { formatDuration, formatRoughDuration } from "../text/amounts.js";
import { printable } from "../text/printable.js";
import { fitWidth, textWidth } from "../text/width.js";
import { type Canvas, formatSpans, type Look, type Span, span } from "./styled-text.js";
import type { ViewState } from "./view-state.js";

const WIDEST_BAR = 60;
const NARROWEST_BAR = 6;
const WIDEST_TITLE = 30;

export function progressLines(view: ViewState, canvas: Canvas): string[] {
  if (view.startedAt === null) return [];
  return [barLine(view, elapsedMs(view.state, canvas.now), canvas), countsLine(view, canvas)];
}

/** With few columns, omits first the bar, then the time left, then the end of the name. */
function barLine(view: ViewState, tookMs: number, canvas: Canvas): string {
  const { now, columns, look } = canvas;
  const leftMs = timeLeftMs(view.state, now);
  const { succeeded, failed, stopped, lost, skipped, blocked, unneeded } = view.state.tally;
  const done = succeeded + failed + stopped + lost + skipped + blocked + unneeded;
  const parts = [`${done}/${view.state.jobs.size}`, formatDuration(tookMs)];
  const short = parts.join(look.separator);
  if (leftMs !== null) parts.push(`~${formatRoughDuration(leftMs)} left`);
  const long = parts.join(look.separator);
  const name = fitWidth(
    printable(view.title),
    Math.min(WIDEST_TITLE, columns - textWidth(short) - 2),
    look.ellipsis,
  );
  const title = name === "" ? "" : `${name}  `;
  const text = textWidth(title) + textWidth(long) > columns ? short : long;
  const barWidth = Math.min(WIDEST_BAR, Math.floor(columns / 2), columns - textWidth(title + text) - 2);
  if (barWidth < NARROWEST_BAR) return formatSpans([span(title + text)], canvas);
  return formatSpans([span(title), ...barSpans(view, barWidth, look), span(`  ${text}`)], canvas);
}

function barSpans(view: ViewState, width: number, look: Look): Span[] {
  const { succeeded, skipped, failed, stopped, lost, running, ended, blocked, unneeded } = view.state.tally;
  const cellsUpTo = (count: number) => Math.round((count / Math.max(1, view.state.jobs.size)) * width);
  const good = succeeded + skipped + unneeded;
  const bad = failed + stopped + lost + blocked;
  const doneEnd = cellsUpTo(good);
  const failedEnd = cellsUpTo(good + bad);
  const runningEnd = cellsUpTo(good + bad + running + ended);
  return [
    span(look.bar.done.repeat(doneEnd), "good"),
    span(look.bar.failed.repeat(failedEnd - doneEnd), "bad"),
    span(look.bar.running.repeat(runningEnd - failedEnd), "busy"),
    span(look.bar.waiting.repeat(width - runningEnd), "dim"),
  ];
}

function countsLine(view: ViewState, canvas: Canvas): string {
  const { columns, look } = canvas;
  const { succeeded, skipped, failed, stopped, lost, running, waiting, ended, unknown, blocked, unneeded } =
    view.state.tally;
  const allSkipped = skipped + blocked + unneeded;
  const counts = [
    span(`${succeeded} succeeded`, succeeded > 0 ? "good" : "normal"),
    span(`${failed} failed`, failed > 0 ? "bad" : "normal"),
    span(`${running} running`, running > 0 ? "busy" : "normal"),
    span(`${waiting} waiting`),
  ];
  if (stopped > 0) counts.push(span(`${stopped} stopped`));
  // On a machine that was left out, or lost with one.
  if (lost + unknown > 0) counts.push(span(`${lost + unknown} lost`, "lost"));
  if (allSkipped > 0) counts.push(span(`${allSkipped} skipped`));
  if (ended > 0) counts.push(span(`${ended} to collect`));
  return formatSpans(joinedSpans(counts, look.separator, columns), canvas);
}

/** With few columns, uses single spaces and omits the last counts. */
function joinedSpans(counts: readonly Span[], separator: string, columns: number): Span[] {
  const widthOf = (some: readonly Span[], glue: string) => textWidth(some.map(({ text }) => text).join(glue));
  const glue = widthOf(counts, separator) > columns ? " " : separator;
  const fitting = counts.filter(
    (_, index) => index === 0 || widthOf(counts.slice(0, index + 1), glue) <= columns,
  );
  return fitting.flatMap((count, index) => (index === 0 ? [count] : [span(glue, "dim"), count]));
}
