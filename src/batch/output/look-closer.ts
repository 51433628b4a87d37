// What a state does not have: the last lines of running and failed jobs, and why slots take no job. From this disk, from the
// client that follows the batch, or from the machines.

import { attemptKey, parseAttemptKey } from "../../model/attempt-key.js";
import type { BatchState, TrackedJob } from "../../model/batch-state.js";
import type { BatchStatus } from "../../model/batch-status.js";
import type { RunEvent } from "../../model/event.js";
import type { JobId } from "../../model/job.js";
import { wordOf } from "../../model/standing.js";
import { forgetReasons, noteReason, reasonFor, type WaitingReasons } from "../../model/waiting-reason.js";
import { readTails, type Tail } from "../../remote/spool/read-tails.js";
import type { SpoolEvent } from "../../remote/spool/spool-event.js";
import type { Results } from "../../run/home/results.js";
import type { Connector } from "../connector.js";
import type { BatchHere } from "../find/batches-here.js";
import { refresh, type Visited } from "../find/refresh.js";
import { askRecent } from "../follower/ask-recent.js";
import type { Unreached } from "../machine/reach.js";
import { loadLastWords, loadLatestWords } from "./last-words.js";

/** Of so many running and so many failed jobs: more than a person reads. */
const MOST_JOBS = 100;

export interface Closer extends Pick<BatchStatus, "lastWords" | "shortages" | "pausedPid"> {
  readonly unreached: readonly Unreached[];
}

/** Brings the batch's state up to date first. */
export async function lookCloser(batch: BatchHere, results: Results, connect: Connector): Promise<Closer> {
  const lastWords = new Map<JobId, string>();
  const recent = batch.holder === null ? [] : await askRecent(results, batch.stem);
  const reasons = recentReasons(recent);
  const visit = async (visited: Visited, signal: AbortSignal) => {
    const { machine, session, place, log } = visited;
    const found = reasonsIn(log);
    if (found.size > 0) reasons.set(machine, found);
    const there = spokenJobs(batch).flatMap((tracked) => keysOn(tracked, machine));
    const keys = there.map(({ key }) => key);
    const tails = await readTails(session, place, keys, signal).catch(withoutTails);
    for (const { key, job, isRunning } of there) {
      const tail = tails.get(key);
      if (tail !== undefined) lastWords.set(job, wordsOf(tail, isRunning));
    }
  };
  const unreached = await refresh(batch, connect, { visit });
  for (const tracked of spokenJobs(batch)) {
    const { id, name } = tracked.job;
    const load = wordOf(tracked) === "running" ? loadLatestWords : loadLastWords;
    if (!lastWords.has(id)) lastWords.set(id, load(results, name));
  }
  const pausedPid = recent.find((event) => event.kind === "paused")?.pid;
  return { unreached, lastWords, shortages: shortagesOf(batch, reasons), pausedPid };
}

export type ReasonsByMachine = Map<string, WaitingReasons>;

export function recentReasons(events: readonly RunEvent[]): ReasonsByMachine {
  const reasons: ReasonsByMachine = new Map();
  for (const event of events) {
    if (event.kind !== "slot-waiting") continue;
    const ofMachine = reasons.get(event.machine) ?? new Map();
    reasons.set(event.machine, ofMachine);
    noteReason(ofMachine, event);
  }
  return reasons;
}

/** Of each job that waits on a machine. */
function shortagesOf({ state }: BatchHere, reasons: ReasonsByMachine): Map<JobId, string> {
  const shortages = new Map<JobId, string>();
  for (const tracked of state.jobs.values()) {
    const reason = shortageOf(state, tracked, reasons);
    if (reason !== undefined) shortages.set(tracked.job.id, reason);
  }
  return shortages;
}

/** Undefined: it does not wait on a machine that gave a reason. */
export function shortageOf(
  { jobs }: Pick<BatchState, "jobs">,
  tracked: TrackedJob,
  reasons: ReasonsByMachine,
): string | undefined {
  const { job, fate } = tracked;
  const ofMachine = fate.kind === "tried" && reasons.get(fate.machine);
  if (!ofMachine || wordOf(tracked) !== "waiting") return undefined;
  return reasonFor(ofMachine, job, (id) => jobs.get(id)?.job);
}

/** What is on a machine only to be shown is no reason to count it as unreached. Anything but its own mistake is our bug. */
function withoutTails(error: unknown): Map<string, Tail> {
  if (error instanceof Error && "hint" in error) return new Map();
  throw error;
}

/** Those whose last line is of interest. */
function spokenJobs({ jobs, state }: BatchHere): TrackedJob[] {
  const found = { running: [] as TrackedJob[], failed: [] as TrackedJob[] };
  for (const { id } of jobs) {
    const tracked = state.jobs.get(id);
    const word = tracked === undefined ? null : wordOf(tracked);
    if (tracked === undefined || (word !== "running" && word !== "failed")) continue;
    if (found[word].length < MOST_JOBS) found[word].push(tracked);
  }
  return [...found.running, ...found.failed];
}

interface SpokenThere {
  readonly job: JobId;
  readonly key: string;
  readonly isRunning: boolean;
}

/** Empty: its output is not there, or no more. */
function keysOn({ fate }: TrackedJob, machine: string): SpokenThere[] {
  if (fate.kind !== "tried" || fate.machine !== machine) return [];
  const { kind } = fate.stage;
  if (kind !== "running" && kind !== "ended" && kind !== "stuck") return [];
  return [{ job: fate.job, key: attemptKey(fate), isRunning: kind === "running" }];
}

/** As for files on this disk: why it failed is in stderr, how far it is in what came last. */
function wordsOf({ out, err, newer }: Tail, isRunning: boolean): string {
  const [first, other] = isRunning && newer === "out" ? [out, err] : [err, out];
  return first.trim() === "" ? other : first;
}

/** Why jobs wait, by the log of a machine. */
export function reasonsIn(log: readonly SpoolEvent[]): WaitingReasons {
  const reasons: WaitingReasons = new Map();
  for (const event of log) {
    if (event.kind === "waiting") noteReason(reasons, event);
    if (event.kind === "waits")
      noteReason(reasons, {
        slot: event.slot,
        job: parseAttemptKey(event.key).job,
        reason: event.reasons.join(" "),
      });
    if (event.kind === "started") forgetReasons(reasons, event.slot, parseAttemptKey(event.key).job);
    if (event.kind === "idle") forgetReasons(reasons, event.slot);
  }
  return reasons;
}
