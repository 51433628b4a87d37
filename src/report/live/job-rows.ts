// The jobs of the live view as rows: what each job is, where and how long it runs, and a remark.

import type { TrackedJob } from "../../model/batch-state.js";
import { elapsedMs } from "../../model/batch-times.js";
import type { Job } from "../../model/job.js";
import { endingOf } from "../../model/standing.js";
import { formatAge, formatDuration } from "../text/amounts.js";
import { outcomeWords, reasonWords } from "../text/outcome-words.js";
import type { Signs } from "../text/signs.js";
import { jobNames } from "./job-names.js";
import { progressIn } from "./job-progress.js";
import { whereOf } from "./place.js";
import { type RunningJob, runningJobs, type ViewState } from "./view-state.js";
import { type WaitingJob, waitingJobs } from "./waiting-jobs.js";

export interface JobRow {
  readonly state: keyof Signs["states"];
  readonly job: Job;
  readonly where: string;
  readonly timeMs: number | null;
  /** Its description, or how it ended. */
  readonly what: string;
  /** 0 to 1, for a running job whose output shows it. */
  readonly progress: number | null;
  readonly said: string;
  /** True if `said` explains a problem: then it is shown even with few columns. */
  readonly isReason: boolean;
}

/** A job that prints nothing for this long is marked. */
const SILENT_AFTER_MS = 2 * 60 * 1000;

export function runningRows(view: ViewState, now: number, isWide: boolean): JobRow[] {
  const { whatOf } = jobNames(view.state.jobs);
  return runningJobs(view).map((running) => {
    const { job, machine, startedAt, said } = running;
    return {
      job,
      where: whereOf(view, machine, running),
      timeMs: now - startedAt,
      what: whatOf(job, isWide),
      progress: said === null ? null : progressIn(said.text),
      ...condition(view, running, now),
    };
  });
}

function condition(
  view: ViewState,
  { machine, startedAt, said }: RunningJob,
  now: number,
): Pick<JobRow, "state" | "said" | "isReason"> {
  const text = said?.text ?? "";
  const rest = text === "" ? "" : `: ${text}`;
  const { lostAt = null, quietSince = null } = view.machines.get(machine) ?? {};
  const since = lostAt ?? quietSince;
  if (since !== null)
    return { state: "running", said: `last seen ${formatDuration(now - since)} ago${rest}`, isReason: true };
  // The time of output before this client started is unknown.
  const silentMs = now - (said?.at ?? Math.max(startedAt, view.startedAt ?? 0));
  if (silentMs < SILENT_AFTER_MS) return { state: "running", said: text, isReason: false };
  return { state: "silent", said: `no output for ${formatAge(silentMs)}${rest}`, isReason: true };
}

/** Jobs that failed or are lost, in the order in which they ended. */
export function failureRows(view: ViewState): JobRow[] {
  const { tally, jobs } = view.state;
  if (tally.failed + tally.lost === 0) return [];
  return endedJobs(jobs.values(), (word) => word === "failed" || word === "lost").map((ended) =>
    endedRow(view, ended),
  );
}

/** The last jobs that succeeded, newest first. */
export function succeededRows(view: ViewState, most: number): JobRow[] {
  if (most <= 0) return [];
  return endedJobs(view.state.jobs.values(), (word) => word === "succeeded")
    .slice(-most)
    .reverse()
    .map((ended) => endedRow(view, ended));
}

type EndWord = ReturnType<typeof endingOf>;

function endedJobs(jobs: Iterable<TrackedJob>, isWanted: (word: EndWord) => boolean): TrackedJob[] {
  const wanted: TrackedJob[] = [];
  for (const tracked of jobs) {
    const { fate } = tracked;
    if (fate.kind !== "tried" || fate.stage.kind !== "collected") continue;
    if (isWanted(endingOf(fate.stage.outcome))) wanted.push(tracked);
  }
  return wanted.sort((one, other) => endedAtOf(one) - endedAtOf(other));
}

function endedAtOf({ fate }: TrackedJob): number {
  return fate.kind === "tried" && "endedAt" in fate.stage ? (fate.stage.endedAt ?? 0) : 0;
}

function endedRow(view: ViewState, { job, fate }: TrackedJob): JobRow {
  if (fate.kind !== "tried" || fate.stage.kind !== "collected") throw new Error(`${job.name} has not ended`);
  const { outcome, durationMs } = fate.stage;
  const state = endingOf(outcome);
  const where = whereOf(view, fate.machine, fate.stage);
  const common = { state, job, where, timeMs: durationMs, progress: null };
  if (state === "succeeded")
    return { ...common, what: jobNames(view.state.jobs).whatOf(job), said: "", isReason: false };
  const lastWords = view.lastWordsOf(job, fate.number);
  const said = reasonWords(outcome, lastWords);
  return { ...common, what: outcomeWords(outcome, lastWords), said, isReason: true };
}

export function waitingRows(view: ViewState, now: number, most: number): JobRow[] {
  return waitingJobs(view, now, most).map((waiting) => waitingRow(view, now, waiting));
}

/** Waiting time counts from the start of the batch. */
function waitingRow({ state }: ViewState, now: number, { job, reason }: WaitingJob): JobRow {
  return {
    state: "waiting",
    job,
    where: "waits",
    timeMs: elapsedMs(state, now),
    what: "",
    progress: null,
    said: reason,
    isReason: true,
  };
}
