// The summary after a run: how many jobs, how long, and where to look next.

import type { TrackedJob } from "../../model/batch-state.js";
import { elapsedMs } from "../../model/batch-times.js";
import { dependencyFact } from "../../model/dependency.js";
import { endingOf, outcomeAtHome } from "../../model/standing.js";
import { runningJobs, type ViewState } from "../live/view-state.js";
import { formatDuration } from "../text/amounts.js";
import { dependencyWords } from "../text/dependency-words.js";
import { printable } from "../text/printable.js";
import { fitWidth, textWidth } from "../text/width.js";
import { failureLines, type SummaryLook } from "./failure-lines.js";
import { leftOutJobs, leftOutReason } from "./left-out-lines.js";
import { missingText } from "./missing-text.js";
import { needLine } from "./need-line.js";

const LISTED = 20;
const RESULTS = "job_results";

/** Empty for a run that never began. */
export function summaryLines(view: ViewState, look: SummaryLook): string[] {
  if (view.startedAt === null) return [];
  const jobs = [...view.state.jobs.values()];
  const { ellipsis } = look.signs;
  const title = look.title === undefined ? "" : `${printable(look.title)}: `;
  return [
    `${title}${countsText(view, jobs)} in ${formatDuration(elapsedMs(view.state, view.lastEventAt))}`,
    ...failureLines(view, jobs, look),
    ...blockedLines(view, jobs, ellipsis),
    ...leftOutLines(view, look),
    ...unfinishedLines(view, ellipsis),
    ...incompleteLines(view, ellipsis),
    ...view.needs.map(needLine),
    ...nextLines(view, jobs, look),
  ];
}

/** Empty if all jobs succeeded, and if no machine took a job, because a warning has already said what to do. */
function nextLines(view: ViewState, jobs: readonly TrackedJob[], { signs, columns }: SummaryLook): string[] {
  const { running, ended, unknown, stopped } = view.state.tally;
  const waiting = countWaiting(view);
  const failed = jobs.filter(isFailed).map(({ job }) => job);
  const isUnfinished = view.state.tally.waiting < jobs.length && waiting + running + ended + unknown > 0;
  const hasParameters = jobs.some(({ job }) => job.parameters !== undefined);
  if (failed.length + stopped === 0 && !isUnfinished && !hasParameters) return [];
  const closing = { failed, hasStopped: stopped > 0, isUnfinished, some: jobs[0]?.job ?? null };
  const commands = view.sources.nextCommands(closing).map(printable);
  const line = `Next: ${commands.join(signs.separator)}`;
  // A command that is split over two rows cannot be copied.
  return textWidth(line) <= columns
    ? [line]
    : commands.map((each, index) => (index === 0 ? `Next: ${each}` : `      ${each}`));
}

function isFailed(tracked: TrackedJob): boolean {
  const outcome = outcomeAtHome(tracked);
  const word = outcome ? endingOf(outcome) : null;
  return word === "failed" || word === "lost";
}

function countsText(view: ViewState, jobs: readonly TrackedJob[]): string {
  const { tally } = view.state;
  const { succeeded: good, failed, stopped, lost, skipped, running, ended, unknown } = tally;
  const { blocked, unneeded } = tally;
  const leftOut = leftOutJobs(view.state).length;
  const unfinished = countWaiting(view) + running + ended + unknown;
  const parts = [`${good} succeeded`, `${failed} failed`];
  if (stopped > 0) parts.push(`${stopped} stopped`);
  if (lost > 0) parts.push(`${lost} lost`);
  const allSkipped = skipped + blocked + unneeded;
  if (allSkipped > 0) parts.push(`${allSkipped} skipped${failedBefore(jobs)}`);
  if (leftOut > 0) parts.push(`${leftOut} left out`);
  if (unfinished > 0) parts.push(`${unfinished} unfinished`);
  return parts.join(", ");
}

function failedBefore(jobs: readonly TrackedJob[]): string {
  const count = jobs.filter((tracked) => tracked.fate.kind === "skipped" && isFailed(tracked)).length;
  return count === 0 ? "" : ` (${count} of them failed before)`;
}

/** Jobs that did not run because of others, with the reason. */
function blockedLines({ state }: ViewState, jobs: readonly TrackedJob[], ellipsis: string): string[] {
  if (state.tally.blocked + state.tally.unneeded === 0) return [];
  const blocked = jobs.filter(({ fate: { kind } }) => kind === "blocked" || kind === "unneeded");
  const lines = blocked.slice(0, LISTED).map((tracked) => {
    const fact = dependencyFact(state, tracked);
    return `  ${printable(tracked.job.name)}  ${fact === null ? "" : dependencyWords(fact)}`;
  });
  return ["skipped jobs:", ...lines, ...moreLine(blocked.length, ellipsis)];
}

/** Without those that no machine can ever run. */
function countWaiting({ state }: ViewState): number {
  return state.tally.waiting - leftOutJobs(state).length;
}

function leftOutLines({ state }: ViewState, { signs: { ellipsis }, columns }: SummaryLook): string[] {
  const leftOut = leftOutJobs(state);
  if (leftOut.length === 0) return [];
  const lines = leftOut.slice(0, LISTED).map(({ job }) => {
    const reason = leftOutReason(state.leftOut.get(job.id) ?? []);
    return fitWidth(`  ${printable(job.name)}  ${printable(reason)}`, columns, ellipsis);
  });
  return ["left-out jobs, which no machine can ever run:", ...lines, ...moreLine(leftOut.length, ellipsis)];
}

function unfinishedLines(view: ViewState, ellipsis: string): string[] {
  const { ended, unknown } = view.state.tally;
  const waiting = countWaiting(view);
  const running = runningJobs(view);
  const lines = running
    .slice(0, LISTED)
    .map(({ job, machine }) => `  ${printable(job.name)}  running on ${printable(machine)} when last seen`);
  lines.push(...moreLine(running.length, ellipsis));
  if (waiting > 0) lines.push(`  ${waiting} waiting`);
  if (ended > 0) lines.push(`  ${ended} ended, results not collected yet`);
  if (unknown > 0) lines.push(`  ${unknown} lost: their machine was left out, or no longer has them`);
  return lines.length === 0 ? [] : ["unfinished jobs:", ...lines];
}

function incompleteLines({ state: { jobs }, incomplete }: ViewState, ellipsis: string): string[] {
  if (incomplete.length === 0) return [];
  const lines = incomplete.slice(0, LISTED).map(({ job, machine, missing }) => {
    const name = printable(jobs.get(job)?.job.name ?? `job ${job}`);
    return `  ${RESULTS}/${name}  incomplete, still on ${printable(machine)}: ${missingText(missing)}`;
  });
  return [
    "incomplete results:",
    ...lines,
    ...moreLine(incomplete.length, ellipsis),
    "  make these files readable on the machine, then type the same command again",
  ];
}

function moreLine(count: number, ellipsis: string): string[] {
  return count > LISTED ? [`  ${ellipsis} and ${count - LISTED} more: see ${RESULTS}/`] : [];
}
