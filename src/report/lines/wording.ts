// Sentences that several reporters print.

import type { BatchState } from "../../model/batch-state.js";
import type { RunEvent } from "../../model/event.js";
import type { JobId } from "../../model/job.js";
import type { TransferView } from "../live/machine-view.js";
import { formatBytes, formatRoughDuration } from "../text/amounts.js";
import { grownWords } from "../text/grown-words.js";
import { printable } from "../text/printable.js";
import { sameCrashLines, setAsideLines } from "./crash-lines.js";
import { leftOutWarnings } from "./left-out-lines.js";
import { missingText } from "./missing-text.js";

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

/** The warnings for an event; for most events none. */
export function warningLines(event: RunEvent, state: BatchState): string[] {
  const { jobs } = state;
  const nameOf = (id: JobId) => printable(jobs.get(id)?.job.name ?? `job ${id}`);
  switch (event.kind) {
    case "warning":
      return [`WARNING: ${printable(event.message)}`];
    case "machine-ready":
      return event.capacity.shell === "sh" ? [`WARNING: ${printable(event.machine)} has ${NO_BASH}`] : [];
    case "machine-failed":
      return aboutMachine(event, "is left out");
    case "machine-refused":
      return aboutMachine(event, "gets no jobs");
    case "jobs-reassigned":
      return [
        `WARNING: ${printable(event.machine)} is still unreachable; moving its ${count(event.jobs.length, "waiting job")} to other machines`,
      ];
    case "jobs-gone":
      return [
        `WARNING: ${listNames(event.jobs.map(nameOf))} ${event.jobs.length === 1 ? "is" : "are"} no longer on ${printable(event.machine)}: the outcome is unknown`,
      ];
    case "machine-set-aside":
      return setAsideLines(event);
    case "jobs-left-out":
      return leftOutWarnings(event, { jobs });
    case "same-crash":
      return sameCrashLines(event, state);
    case "machine-draining":
      return [`WARNING: ${printable(event.machine)} is being drained: it gets no more jobs`];
    case "jobs-retried":
      return retriedLines(event, nameOf);
    case "job-grown":
      return [`WARNING: ${nameOf(event.job)} on ${printable(event.machine)}: ${grownWords(event)}`];
    case "job-stuck":
      return [
        `WARNING: the results of ${nameOf(event.job)} stay on ${printable(event.machine)}: ${printable(event.reason)}`,
      ];
    case "job-collected":
    case "rest-collected":
      if (event.missing === undefined || event.missing.length === 0) return [];
      return [
        `WARNING: some results of ${nameOf(event.job)} could not be collected and stay on ${printable(event.machine)}: ${missingText(event.missing)}`,
      ];
    case "run-started":
    case "results-moved":
    case "jobs-added":
    case "job-refused":
    case "machine-serves":
    case "jobs-complete":
    case "run-resumed":
    case "job-skipped":
    case "job-blocked":
    case "job-reopened":
    case "job-replaced":
    case "machine-lost":
    case "machine-back":
    case "machine-quiet":
    case "machine-opened":
    case "machine-done":
    case "tree-read":
    case "staging":
    case "staged":
    case "jobs-assigned":
    case "jobs-stopping":
    case "jobs-resumed":
    case "jobs-handed-over":
    case "jobs-taken-back":
    case "slot-waiting":
    case "job-started":
    case "job-resumes":
    case "job-said":
    case "job-output":
    case "output-restarted":
    case "job-ended":
    case "collecting":
    case "jobs-arrived":
    case "dirs-kept":
    case "old-results-removed":
    case "interrupted":
    case "halted":
    case "paused":
    case "continued":
    case "run-ended":
      return [];
    default:
      return event satisfies never;
  }
}

/** Jobs that ran out of memory have a line of their own already. */
function retriedLines(
  { jobs, machine, grown = [] }: Extract<RunEvent, { kind: "jobs-retried" }>,
  nameOf: (id: JobId) => string,
): string[] {
  const names = jobs.filter((id) => !grown.includes(id)).map(nameOf);
  return names.length === 0
    ? []
    : [`WARNING: retrying: ${listNames(names)}, last tried on ${printable(machine)}`];
}

function listNames(names: readonly string[]): string {
  const [shown, more] = [names.slice(0, NAMED_JOBS).join(", "), names.length - NAMED_JOBS];
  return more > 0 ? `${shown} and ${more} more` : shown;
}

interface MachineTrouble {
  readonly machine: string;
  readonly reason: string;
  readonly hint: string | null;
}

function aboutMachine({ machine, reason, hint }: MachineTrouble, what: string): string[] {
  const first = `WARNING: ${printable(machine)} ${what}: ${printable(reason)}`;
  return hint === null ? [first] : [first, printable(hint)];
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
