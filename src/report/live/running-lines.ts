// The lower part of the live view: the running jobs, how long they run and what they said last.

import { formatDuration } from "../text/amounts.js";
import { printable } from "../text/printable.js";
import { fitWidthKeepingEnd, padWidth, textWidth } from "../text/width.js";
import { type Canvas, formatSpans, span } from "./styled-text.js";
import type { RunningJob } from "./view-state.js";

const ELAPSED_WIDTH = "59m 59s".length;
/** Narrower terminals have no room to say where a job runs. */
const COLUMNS_FOR_MACHINES = 100;

export function runningLines(jobs: readonly RunningJob[], canvas: Canvas): string[] {
  const { now, columns, look } = canvas;
  const names = columnOf(jobs, ({ job }) => job.name, Math.floor(columns * 0.4), look.ellipsis);
  const machines = columnOf(jobs, ({ machine }) => machine, Math.floor(columns * 0.2), look.ellipsis);
  return jobs.map(({ startedAt, lastLine }, index) => {
    const elapsed = formatDuration(now - startedAt).padStart(ELAPSED_WIDTH);
    const spans = [span(`${names[index]}  `), span(`${elapsed}  `, "busy")];
    if (columns >= COLUMNS_FOR_MACHINES) spans.push(span(`${machines[index]}  `));
    spans.push(span(lastLine, "dim"));
    return formatSpans(spans, canvas);
  });
}

function columnOf<T>(
  items: readonly T[],
  textOf: (item: T) => string,
  limit: number,
  ellipsis: string,
): string[] {
  const cells = items.map((item) => fitWidthKeepingEnd(printable(textOf(item)), limit, ellipsis));
  const width = Math.max(0, ...cells.map(textWidth));
  return cells.map((cell) => padWidth(cell, width));
}
