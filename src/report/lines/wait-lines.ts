// What `sshoal wait` prints: one line while it waits on a terminal, and how each batch ended.

import type { BatchState } from "../../model/batch-state.js";
import { type BatchStatus, countLeftOut, countWords } from "../../model/batch-status.js";
import { wordOf } from "../../model/standing.js";
import { toCollectText } from "../tables/status-lines.js";
import { type StatusLook, statusRows } from "../tables/status-rows.js";
import { formatDuration } from "../text/amounts.js";
import { printable } from "../text/printable.js";
import { fitWidth } from "../text/width.js";

/**
 * `jobs.sh: 3 succeeded, 1 failed of 10 in 12m04s`, a row for each job that did not succeed, and what collects the
 * results.
 */
export function waitedLines(status: BatchStatus, look: StatusLook): string[] {
  const head = `${status.stem}: ${countsText(status)} of ${status.jobs.length} in ${formatDuration(status.elapsedMs)}`;
  const jobs = status.jobs.filter(({ state }) => state !== "waiting");
  const last = toCollectText(status);
  return [
    printable(head),
    ...statusRows({ ...status, jobs }, look),
    ...(last === "" ? [] : [printable(last)]),
  ];
}

/** `waiting for jobs.sh: 4 of 10 ended, 6 running · b.sh: …`, at most as wide as the terminal. */
export function waitingLine(
  batches: readonly { readonly stem: string; readonly state: BatchState }[],
  elapsedMs: number,
  { signs, columns }: StatusLook,
): string {
  const parts = batches.map(({ stem, state }) => {
    const counts = countWords([...state.jobs.values()].map((tracked) => ({ state: wordOf(tracked) })));
    const { running, waiting } = counts;
    const ended = state.jobs.size - running - waiting;
    return `${stem}: ${ended} of ${state.jobs.size} ended, ${running} running`;
  });
  const line = `waiting ${formatDuration(elapsedMs)} for ${parts.join(signs.separator)}`;
  return fitWidth(printable(line), columns, signs.ellipsis);
}

function countsText({ jobs }: BatchStatus): string {
  const { waiting, ...counts } = countWords(jobs);
  const leftOut = countLeftOut(jobs);
  // Not last: "3 left out of 4" has another meaning.
  const all = { "left out": leftOut, ...counts, waiting: waiting - leftOut };
  const parts = Object.entries(all).filter(([word, amount]) => amount > 0 || word === "succeeded");
  return parts.map(([word, amount]) => `${amount} ${word}`).join(", ");
}
