// What is left on the screen after a run: how many, how long, and where to look next.

import { endingOf, outcomeAtHome, type TrackedJob } from "../../model/batch-state.js";
import type { Outcome } from "../../model/job.js";
import { describeOutcome, succeeded } from "../../model/job.js";
import { runningJobs, type ViewState } from "../live/view-state.js";
import { formatDuration } from "../text/amounts.js";
import { printable } from "../text/printable.js";
import { fitWidth, padWidth, textWidth } from "../text/width.js";
import { missingText } from "./missing-text.js";

const COLUMNS = 80;
const LISTED = 20;
const RESULTS = "job_results";

/** Nothing for a run that never began. */
export function summaryLines(view: ViewState, ellipsis = "…"): string[] {
  if (view.startedAt === null) return [];
  const jobs = [...view.state.jobs.values()];
  return [
    `${countsText(view, jobs)} in ${formatDuration(view.lastEventAt - view.startedAt)}`,
    ...failedLines(jobs, ellipsis),
    ...unfinishedLines(view, ellipsis),
    ...incompleteLines(view, ellipsis),
  ];
}

function countsText({ state: { tally } }: ViewState, jobs: readonly TrackedJob[]): string {
  const { succeeded: good, failed, stopped, lost, skipped, waiting, running, ended, unknown } = tally;
  const unfinished = waiting + running + ended + unknown;
  const parts = [`${good} succeeded`, `${failed} failed`];
  if (stopped > 0) parts.push(`${stopped} stopped`);
  if (lost > 0) parts.push(`${lost} lost`);
  if (skipped > 0) parts.push(`${skipped} skipped${failedBefore(jobs)}`);
  if (unfinished > 0) parts.push(`${unfinished} unfinished`);
  return parts.join(", ");
}

function failedBefore(jobs: readonly TrackedJob[]): string {
  const count = jobs.filter(
    ({ fate }) => fate.kind === "skipped" && fate.outcome !== null && !succeeded(fate.outcome),
  ).length;
  return count === 0 ? "" : ` (${count} of them failed before)`;
}

/** One list for each way not to succeed. */
function failedLines(jobs: readonly TrackedJob[], ellipsis: string): string[] {
  const failures = jobs.flatMap((tracked): Failure[] => {
    const outcome = tracked.fate.kind === "skipped" ? null : outcomeAtHome(tracked);
    return outcome ? [{ path: `${RESULTS}/${printable(tracked.job.name)}.err`, outcome }] : [];
  });
  return (["failed", "stopped", "lost"] as const).flatMap((word) => {
    const some = failures.filter(({ outcome }) => endingOf(outcome) === word);
    if (some.length === 0) return [];
    const listed = alignedFailures(some.slice(0, LISTED), ellipsis);
    return [`${word} jobs:`, ...listed, ...moreLine(some.length, ellipsis)];
  });
}

interface Failure {
  readonly path: string;
  readonly outcome: Outcome;
}

function alignedFailures(failures: readonly Failure[], ellipsis: string): string[] {
  const widest = Math.max(...failures.map(({ path }) => textWidth(path)));
  // One very long name would push every outcome out of sight.
  const pathWidth = Math.min(widest, COLUMNS - 24);
  return failures.map(({ path, outcome }) => {
    const start = `  ${padWidth(path, pathWidth)}  `;
    const room = Math.max(20, COLUMNS - textWidth(start));
    return start + fitWidth(printable(describeOutcome(outcome)), room, ellipsis);
  });
}

function unfinishedLines(view: ViewState, ellipsis: string): string[] {
  const { waiting, ended, unknown } = view.state.tally;
  const running = runningJobs(view);
  const lines = running
    .slice(0, LISTED)
    .map(({ job, machine }) => `  ${printable(job.name)}  running on ${printable(machine)} when last seen`);
  lines.push(...moreLine(running.length, ellipsis));
  if (waiting > 0) lines.push(`  ${waiting} waiting`);
  if (ended > 0) lines.push(`  ${ended} ended, results not collected yet`);
  if (unknown > 0) lines.push(`  ${unknown} lost: their machine was left out, or has them no more`);
  return lines.length === 0 ? [] : ["unfinished jobs:", ...lines];
}

function incompleteLines({ state: { jobs }, incomplete }: ViewState, ellipsis: string): string[] {
  if (incomplete.length === 0) return [];
  const lines = incomplete.slice(0, LISTED).map(({ job, machine, missing }) => {
    const name = printable(jobs.get(job)?.job.name ?? `job ${job}`);
    return `  ${RESULTS}/${name}  without what ${printable(machine)} keeps: ${missingText(missing)}`;
  });
  return [
    "incomplete results:",
    ...lines,
    ...moreLine(incomplete.length, ellipsis),
    "  make these files readable there, then type the same command again",
  ];
}

function moreLine(count: number, ellipsis: string): string[] {
  return count > LISTED ? [`  ${ellipsis} and ${count - LISTED} more: see ${RESULTS}/`] : [];
}
