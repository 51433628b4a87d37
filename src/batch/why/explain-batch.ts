// Explains jobs of a batch: why they wait, where they run, how they ended. Pure.

import { courseOf } from "../../model/attempt.js";
import { rankOf } from "../../model/attempt-key.js";
import type { BatchSettings } from "../../model/batch.js";
import type { TrackedJob } from "../../model/batch-state.js";
import type { JobStatus } from "../../model/batch-status.js";
import { type Job, kindOf, type Requirement } from "../../model/job.js";
import { jobLabel, labelsIn } from "../../model/job-label.js";
import type { Capacity } from "../../model/machine.js";
import { wordOf } from "../../model/standing.js";
import type { Hold, WhyBatch, WhyJob } from "../../model/why.js";
import { explainWaiting, type MeasuredMachine } from "../../plan/why/explain-waiting.js";
import { usualDurationMs } from "../../plan/why/next-end.js";
import type { WaitingNeed } from "../../plan/why/verdict.js";
import { type BatchHere, resumeCommand } from "../find/batches-here.js";
import { jobStatuses } from "../job-status.js";

/** What of a batch matters here. */
export type ExplainedBatch = Pick<
  BatchHere,
  "batch" | "stem" | "jobs" | "slots" | "state" | "stuck" | "holder"
> & { readonly settings: Pick<BatchSettings, "requirement" | "placing"> };

export interface Explaining {
  readonly here: ExplainedBatch;
  readonly machines: readonly MeasuredMachine[];
  /** The client that follows the batch and is paused; null: none is. */
  readonly pausedPid: number | null;
  /** The end of a job's output. */
  readonly lastWordsOf: (job: Job) => string;
  readonly now: number;
}

/** More groups than that fill more than a screen. */
const MOST_GROUPS = 4;

/** Each of these jobs. */
export function explainJobs(explaining: Explaining, jobs: readonly Job[]): WhyBatch {
  return whyBatch(
    explaining,
    jobs.map((job) => ({ job, others: 0 })),
    0,
  );
}

/** The waiting jobs, of each need the first. */
export function explainAllWaiting(explaining: Explaining): WhyBatch {
  const groups = new Map<string, { job: Job; others: number }>();
  const { here } = explaining;
  for (const job of [...waitingJobs(here), ...heldJobs(here)]) {
    const kind = here.state.held.has(job.id) ? "after" : kindOf(job.requirement);
    const known = groups.get(kind);
    if (known === undefined) groups.set(kind, { job, others: 0 });
    else known.others++;
  }
  const all = [...groups.values()];
  return whyBatch(explaining, all.slice(0, MOST_GROUPS), Math.max(0, all.length - MOST_GROUPS));
}

interface Asked {
  readonly job: Job;
  readonly others: number;
}

function whyBatch(explaining: Explaining, asked: readonly Asked[], more: number): WhyBatch {
  const { here } = explaining;
  const jobs = asked.flatMap((each) => whyJob(explaining, each) ?? []);
  const { waiting, held } = here.state;
  const isUnsent = jobs.some(
    (each) => (waiting.has(each.job.id) || held.has(each.job.id)) && !canNeverRun(each),
  );
  const hold = holdOf(explaining, isUnsent);
  return { batch: here.batch, stem: here.stem, hold, jobs, more };
}

/** No client can change that. */
function canNeverRun(why: WhyJob): boolean {
  return (
    why.kind === "waits" &&
    why.machines.length > 0 &&
    why.machines.every((machine) => machine.kind === "waits" && machine.isNever)
  );
}

function holdOf({ here, pausedPid }: Explaining, isUnsent: boolean): Hold | null {
  if (pausedPid !== null) return { kind: "paused", pid: pausedPid };
  return isUnsent && here.holder === null ? { kind: "no-client", command: resumeCommand(here) } : null;
}

function whyJob(explaining: Explaining, { job, others }: Asked): WhyJob | null {
  const { here, now, lastWordsOf } = explaining;
  const [status] = jobStatuses({ ...here, jobs: [job] }, now);
  if (status === undefined) return null;
  const { state, machine, elapsedMs, outcome, dependency } = status;
  if (dependency !== undefined) return { kind: "after", job, state, others, dependency };
  if (state === "waiting")
    return { kind: "waits", job, state, others, requirement: needed(here, job), ...why(explaining, job) };
  if (state !== "running")
    return { kind: "ended", job, state, machine, elapsedMs, outcome, lastWords: lastWordsOf(job) };
  return {
    kind: "runs",
    job,
    state,
    machine: machine ?? "",
    cards: cardsOf(here, status),
    elapsedMs,
  };
}

/** By index. UUIDs of MIG slices have none; those of older slots are as planned. */
function cardsOf(here: ExplainedBatch, { machine, slot, gpus }: JobStatus): number[] {
  const planned = here.slots.get(machine ?? "")?.find(({ index }) => index === slot)?.gpus ?? [];
  const indices = gpus?.map(Number) ?? planned.map(({ index }) => index);
  return indices.filter((index) => Number.isInteger(index));
}

function why(explaining: Explaining, job: Job) {
  const { here, machines } = explaining;
  const waiting = waitingJobs(here);
  const before = waiting.slice(
    0,
    Math.max(
      0,
      waiting.findIndex(({ id }) => id === job.id),
    ),
  );
  return explainWaiting({
    batch: here.batch,
    placing: here.settings.placing,
    need: { key: jobLabel(job), requirement: needed(here, job), count: 1 },
    machines: machines.map((each) => {
      if (each.kind !== "measured") return each;
      const earlier = earlierOn(each.spec.name, here, before);
      return { ...each, capacity: withLabels(each.capacity, here), earlier };
    }),
    leftMs: leftMsByLabel(explaining),
  });
}

/** A claim has the id of its job. */
function withLabels(capacity: Capacity, { batch, state }: ExplainedBatch): Capacity {
  const labelOf = labelsIn(state.jobs);
  const claims = capacity.claims.map((claim) =>
    claim.batch === batch && claim.owner === "" && /^\d+$/.test(claim.job)
      ? { ...claim, job: labelOf(Number(claim.job)) }
      : claim,
  );
  return { ...capacity, claims };
}

/** A job that ran out of memory may need more than it asked for. */
function needed({ settings, state }: ExplainedBatch, job: Job): Requirement {
  return (state.jobs.get(job.id)?.job ?? job).requirement ?? settings.requirement;
}

/** Those that wait for other jobs: they take no room yet. */
function heldJobs({ state }: ExplainedBatch): Job[] {
  return [...state.held].flatMap((id) => state.jobs.get(id)?.job ?? []);
}

/** In the order in which they start. */
export function waitingJobs({ jobs, state }: Pick<ExplainedBatch, "jobs" | "state">): Job[] {
  return jobs
    .flatMap(({ id }) => {
      const tracked = state.jobs.get(id);
      if (tracked === undefined || state.held.has(id)) return [];
      return wordOf(tracked) === "waiting" ? [tracked.job] : [];
    })
    .toSorted((one, other) => rankOf(one) - rankOf(other));
}

/** Jobs that wait on another machine take nothing on this one. */
function earlierOn(machine: string, here: ExplainedBatch, before: readonly Job[]): WaitingNeed[] {
  const needs = new Map<string, WaitingNeed>();
  for (const each of before.filter(({ id }) => waitsFor(here.state.jobs.get(id), machine))) {
    const kind = kindOf(each.requirement);
    const known = needs.get(kind) ?? { key: jobLabel(each), requirement: needed(here, each), count: 0 };
    needs.set(kind, { ...known, count: known.count + 1 });
  }
  return [...needs.values()];
}

function waitsFor(tracked: TrackedJob | undefined, machine: string): boolean {
  return tracked?.fate.kind !== "tried" || tracked.fate.machine === machine;
}

/** Of running jobs whose kind usually takes longer than they have run so far. */
function leftMsByLabel({ here, now }: Explaining): Map<string, number> {
  const durations = new Map<string, number[]>();
  const running: { job: Job; startedAt: number }[] = [];
  for (const { job, fate } of here.state.jobs.values()) {
    if (fate.kind !== "tried") continue;
    const { startedAt } = courseOf(fate.stage);
    if (fate.stage.kind === "running" && startedAt !== null) running.push({ job, startedAt });
    if (!("durationMs" in fate.stage)) continue;
    const kind = kindOf(job.requirement);
    const known = durations.get(kind);
    if (known === undefined) durations.set(kind, [fate.stage.durationMs]);
    else known.push(fate.stage.durationMs);
  }
  const left = running.flatMap(({ job, startedAt }): [string, number][] => {
    const usual = usualDurationMs(durations.get(kindOf(job.requirement)) ?? []);
    return usual === null || now - startedAt >= usual ? [] : [[jobLabel(job), usual - (now - startedAt)]];
  });
  return new Map(left);
}
