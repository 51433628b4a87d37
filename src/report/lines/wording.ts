// Sentences that several reporters print.

import type { BatchState } from "../../model/batch-state.js";
import type { RunEvent } from "../../model/event.js";
import type { TransferView } from "../live/machine-view.js";
import { formatBytes, formatRoughDuration } from "../text/amounts.js";
import { printable } from "../text/printable.js";

export const STOPPING = {
  drain: "stopping: no new jobs; running jobs finish (Ctrl-C again stops them)",
  stop: "stopping running jobs, collecting their results",
} as const;

/** "stopping train.sh.3, train.sh.4". */
export function stoppingLine(names: readonly string[]): string {
  return `stopping ${listNames(names)}`;
}

const HALTED_BY = { fail: "failed", success: "succeeded", done: "done" } as const;
const THEN = { soon: "lets running jobs finish", now: "stops running jobs" } as const;

/** "3 jobs failed: --halt soon,fail=3 lets running jobs finish". */
export function haltedLine({
  when,
  why,
  count: amount,
  rule,
}: Extract<RunEvent, { kind: "halted" }>): string {
  return `${count(amount, "job")} ${HALTED_BY[why]}: --halt ${rule} ${THEN[when]}`;
}

export function pausedLine({ pid }: Extract<RunEvent, { kind: "paused" }>): string {
  return `paused: no new jobs, running ones continue; kill -USR2 ${pid} resumes`;
}

/**
 * "train.sh was edited: 3 results moved to new lines, 1 moved aside, 2 new commands run". Empty if the user need not
 * know.
 */
export function editLines({ script, edit }: Extract<RunEvent, { kind: "run-started" }>): string[] {
  if (edit === undefined) return [];
  const { moved, aside, dropped, added } = edit.counts;
  const parts = [
    moved === 0 ? [] : [`${count(moved, "result")} moved to ${moved === 1 ? "a new line" : "new lines"}`],
    aside === 0 ? [] : [`${moved === 0 ? count(aside, "result") : aside} moved aside`],
    dropped === 0 ? [] : [`${count(dropped, "waiting command")} dropped`],
    added === 0 ? [] : [`${count(added, "new command")} ${added === 1 ? "runs" : "run"}`],
  ].flat();
  return parts.length === 0 ? [] : [`${printable(script)} was edited: ${parts.join(", ")}`];
}

/** "train.sh.3 resumes in its directory on gpu1". */
export function resumesLine(event: Extract<RunEvent, { kind: "job-resumes" }>, { jobs }: BatchState): string {
  const name = printable(jobs.get(event.job)?.job.name ?? `job ${event.job}`);
  const machine = printable(event.machine);
  switch (event.from) {
    case "machine":
      return `${name} resumes in its directory on ${machine}`;
    case "copy":
      return `${name} resumes on ${machine} from the copy in job_results/${printable(event.copy)}`;
    case "nothing":
      return `${name} starts fresh on ${machine}: ${printable(event.reason)}`;
    default:
      return event satisfies never;
  }
}

/** Empty: nothing is kept. */
export function keptLines(event: Extract<RunEvent, { kind: "dirs-kept" }>, { jobs }: BatchState): string[] {
  if (event.jobs.length === 0) return [];
  const names = event.jobs.map((id) => printable(jobs.get(id)?.job.name ?? `job ${id}`));
  const [what, they] =
    names.length === 1 ? ["the directory", "it succeeds"] : ["the directories", "they succeed"];
  return [
    `${printable(event.machine)} keeps ${what} of ${listNames(names)} until ${they}: ${formatBytes(event.bytes)}`,
  ];
}

export function oldRemovedLine(event: Extract<RunEvent, { kind: "old-results-removed" }>): string {
  return `removed ${count(event.count, "earlier result")} (--max-old): ${formatBytes(event.bytes)}`;
}

export const CONTINUED = "resumed: waiting jobs begin again";

export const NO_BASH = "no bash: jobs run under sh";

const NAMED_JOBS = 10;
const NAMED_LEFT_OUT = 5;
const RATE_AFTER_MS = 500;

export function listNames(names: readonly string[]): string {
  const [shown, more] = [names.slice(0, NAMED_JOBS).join(", "), names.length - NAMED_JOBS];
  return more > 0 ? `${shown} and ${more} more` : shown;
}

/** What is sent to the machines, and what is left out. */
export function treeLine({ files, bytes, leftOut }: Extract<RunEvent, { kind: "tree-read" }>): string {
  const travels = `copying ${count(files, "file")}, ${formatBytes(bytes)}`;
  if (leftOut.length === 0) return travels;
  const named = leftOut.slice(0, NAMED_LEFT_OUT).map(printable).join(", ");
  const more = leftOut.length - NAMED_LEFT_OUT;
  return `${travels}; left out: ${named}${more > 0 ? ` and ${more} more` : ""}`;
}

/** `12.3 MB of 50.0 MB, 24%, 8.1 MB/s, ~5s left`; empty while the size is unknown. */
export function transferText({ doneBytes, totalBytes, beganAt, beganBytes, at }: TransferView): string {
  if (totalBytes === 0) return "";
  const percent = Math.floor((100 * doneBytes) / totalBytes);
  const parts = [`${formatBytes(doneBytes)} of ${formatBytes(totalBytes)}`, `${percent}%`];
  // The first bytes only fill buffers on the way, so their rate means nothing.
  if (at - beganAt >= RATE_AFTER_MS && doneBytes > beganBytes) {
    const bytesPerMs = (doneBytes - beganBytes) / (at - beganAt);
    parts.push(`${formatBytes(1000 * bytesPerMs)}/s`);
    if (doneBytes < totalBytes)
      parts.push(`~${formatRoughDuration((totalBytes - doneBytes) / bytesPerMs)} left`);
  }
  return parts.join(", ");
}

/** Where an earlier client left the batch: jobs may have ended since, and no machine has answered yet. */
export function resumedLine({
  done,
  running,
  waiting,
  machines,
}: Extract<RunEvent, { kind: "run-resumed" }>): string {
  const seen =
    running > 0
      ? `${running} last seen running on ${machines.map(printable).join(", ")}`
      : `${running} running`;
  return `resuming: ${done} done, ${seen}, ${waiting} waiting`;
}

export function count(amount: number, noun: string): string {
  return `${amount} ${noun}${amount === 1 ? "" : "s"}`;
}
