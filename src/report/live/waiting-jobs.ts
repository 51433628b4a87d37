// Lists the next waiting jobs, and why each waits.

import { rankOf } from "../../model/attempt-key.js";
import type { TrackedJob } from "../../model/batch-state.js";
import { dependencyFact } from "../../model/dependency.js";
import type { Job } from "../../model/job.js";
import { labelsIn } from "../../model/job-label.js";
import { reasonFor } from "../../model/waiting-reason.js";
import { leftOutReason } from "../lines/left-out-lines.js";
import { formatDuration } from "../text/amounts.js";
import { dependencyWords } from "../text/dependency-words.js";
import { printable } from "../text/printable.js";
import { waitingWords } from "../text/waiting-words.js";
import type { MachineView } from "./machine-view.js";
import type { ViewState } from "./view-state.js";

export interface WaitingJob {
  readonly job: Job;
  /** Safe to print. */
  readonly reason: string;
}

/** The first job for each reason, in starting order, because rows with the same reason add nothing. */
export function waitingJobs(view: ViewState, now: number, most: number): WaitingJob[] {
  if (most <= 0) return [];
  const firsts = new Map<string, WaitingJob>();
  for (const tracked of firstWaiting(view, most)) {
    const reason = reasonOf(view, tracked, now);
    if (!firsts.has(reason)) firsts.set(reason, { job: tracked.job, reason });
  }
  return [...firsts.values()].slice(0, most);
}

/** The first `most` jobs of each machine, and of those without a machine, because there may be very many. */
function firstWaiting({ state }: ViewState, most: number): TrackedJob[] {
  const found: TrackedJob[] = [];
  let given = 0;
  for (const { current } of state.machines.values()) {
    let taken = 0;
    for (const attempts of [current.queued, current.sent, current.assigned]) {
      given += attempts.size;
      for (const { job } of attempts) {
        if (taken++ >= most) break;
        const tracked = state.jobs.get(job);
        if (tracked !== undefined) found.push(tracked);
      }
    }
  }
  if (given < state.tally.waiting) found.push(...firstUngiven(state.jobs.values(), most));
  return found.sort(byRank);
}

function firstUngiven(jobs: Iterable<TrackedJob>, most: number): TrackedJob[] {
  const found: TrackedJob[] = [];
  for (const tracked of jobs) {
    if (found.length >= most) break;
    if (tracked.fate.kind === "waiting" || tracked.fate.kind === "dropped") found.push(tracked);
  }
  return found;
}

function byRank(one: TrackedJob, other: TrackedJob): number {
  return rankOf(one.job) - rankOf(other.job);
}

function reasonOf(view: ViewState, tracked: TrackedJob, now: number): string {
  const { job, fate } = tracked;
  if (view.stopping !== null) return "no new jobs start";
  if (view.paused !== null) return "paused";
  const fact = dependencyFact(view.state, tracked);
  if (fact !== null) return dependencyWords(fact);
  const leftOut = view.state.leftOut.get(job.id);
  if (leftOut !== undefined && fate.kind === "dropped")
    return `no machine can ever run it: ${printable(leftOutReason(leftOut))}`;
  if (fate.kind !== "tried")
    return hasAnswer(view) ? "no machine has room for it now" : "no machine has answered yet";
  const machine = view.machines.get(fate.machine);
  const name = printable(fate.machine);
  if (machine === undefined) return `waits for ${name}`;
  if (machine.lostAt !== null) return `${name} is unreachable for ${formatDuration(now - machine.lostAt)}`;
  return `${name}: ${shortageOf(view, machine, job)}`;
}

function hasAnswer({ machines }: ViewState): boolean {
  return [...machines.values()].some(({ answer }) => answer?.kind === "ready");
}

function shortageOf({ state, batch }: ViewState, machine: MachineView, job: Job): string {
  const { name, answer, staging, isStaged, held } = machine;
  if (answer?.kind !== "ready") return "connecting";
  if (staging !== null && !isStaged) return "the files are being copied";
  const reason = reasonFor(held, job, (id) => state.jobs.get(id)?.job);
  if (reason !== undefined)
    return waitingWords(reason, { slots: answer.slots, batch, labelOf: labelsIn(state.jobs) });
  const slots = answer.slots.length;
  const busy = state.machines.get(name)?.current.running.size ?? 0;
  return busy < slots ? "starts in a moment" : `${busy} of ${slots} busy`;
}
