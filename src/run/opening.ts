// How a run begins: which jobs are done, which are to be run again, which are under way, and what is said about it.

import { readdirSync } from "node:fs";
import type { BatchSettings } from "../model/batch.js";
import type { Job, Outcome } from "../model/job.js";
import { kindOf, shortCommand, succeeded } from "../model/job.js";
import type { MachineSpec } from "../model/machine.js";
import type { MachineState } from "../plan/machine-state.js";
import { type Past, tryRests } from "../plan/replay.js";
import type { JobState, RunState } from "../plan/run-state.js";
import { forgetResult, replaceQueued } from "../plan/state.js";
import type { Loop } from "./loop.js";
import type { Results } from "./results.js";

/** Which of the jobs that are done are run again. */
export type Rerun = "none" | "changed" | "failed" | "all" | ReadonlySet<number>;

export interface Opening {
  readonly batch: string;
  readonly script: string;
  readonly jobs: readonly Job[];
  readonly machines: readonly MachineSpec[];
  readonly results: Results;
  readonly rerun: Rerun;
  readonly settings: BatchSettings;
  readonly state: RunState;
  readonly past: Past | null;
}

/** What is asked of each job, gathered once. */
interface Gathered {
  readonly hasResults: (name: string) => boolean;
  readonly withStrays: readonly MachineState[];
  /** Lines that were collected, and are about to be tried again. */
  readonly toRetry: ReadonlySet<number>;
}

export function openRun(loop: Loop, opening: Opening): void {
  const { batch, script, jobs, machines, settings, state, results } = opening;
  const addresses = machines.map(({ name, address, scratch, file }) => ({ name, address, scratch, file }));
  loop.emit({ kind: "run-started", batch, script, jobs, machines: addresses, settings });
  const hasResults = listResults(results);
  const withStrays = [...state.machines.values()].filter(({ strays }) => strays.size > 0);
  for (const job of jobs) tellCollected(loop, job, opening, { hasResults, withStrays });
  loop.settle();
  tryRests(state);
  const toRetry = new Set([...state.machines.values()].flatMap((machine) => [...machine.toRetry]));
  for (const job of jobs) openJob(loop, job, opening, { hasResults, toRetry });
  loop.settle();
  tellResumed(loop, state);
}

/** One look into the directory, instead of one for each of its jobs. */
function listResults(results: Results): (name: string) => boolean {
  const names = new Set(readdirSync(results.dir));
  return (name) => names.has(name) && results.has(name);
}

/** An earlier client had put its results into place, and was killed before it could say so in the record. */
function tellCollected(
  loop: Loop,
  { line, name }: Job,
  { state, past }: Opening,
  { hasResults, withStrays }: Pick<Gathered, "hasResults" | "withStrays">,
): void {
  const job = state.jobs.get(line);
  if (past === null || job === undefined || job.kind === "collected" || !hasResults(name)) return;
  const attempt = state.attempts.get(line) ?? 0;
  const inPlace = (missing: readonly string[]) => ({
    ...{ line, files: 0, bytes: 0 },
    ...(missing.length > 0 && { missing }),
  });
  const missing = past.arrived.get(`${line} ${attempt}`);
  if (job.kind === "ended" && missing !== undefined) {
    const { machine, outcome } = job;
    return loop.emit({ kind: "job-collected", ...inPlace(missing), attempt, machine, outcome });
  }
  for (const { name: machine, strays } of withStrays) {
    const stray = strays.get(line);
    const missingOfStray = stray && past.arrived.get(`${line} ${stray.attempt}`);
    if (stray !== undefined && missingOfStray !== undefined)
      return loop.emit({ kind: "job-collected", ...inPlace(missingOfStray), ...stray, machine });
  }
}

function openJob(
  loop: Loop,
  { line, name, command, requirement }: Job,
  { results, rerun, state, past }: Opening,
  gathered: Pick<Gathered, "hasResults" | "toRetry">,
): void {
  const job = state.jobs.get(line);
  const hasResults = gathered.hasResults(name);
  if (job === undefined) return;
  // They were deleted, which is how people say that a job is to be run again.
  if (job.kind === "collected" && !hasResults) {
    results.moveAside(name);
    return forgetResult(state, line);
  }
  const ran = past?.commands.get(line);
  const isChanged = ran !== undefined && ran !== command;
  const outcome = outcomeInPlace(job);
  if (hasResults && outcome !== undefined && isToRerun(rerun, line, outcome, isChanged)) {
    results.moveAside(name);
    return forgetResult(state, line);
  }
  if (gathered.toRetry.has(line)) return;
  const hasOtherNeeds = kindOf(past?.jobs.get(line)?.requirement) !== kindOf(requirement);
  if ((isChanged || hasOtherNeeds) && job.kind === "queued") return replaceQueued(state, line);
  if (isChanged && (hasResults || job.kind !== "waiting")) {
    const message = `line ${line} has changed: its results are those of: ${shortCommand({ command: ran })} (--rerun changed runs it anew)`;
    loop.emit({ kind: "warning", message });
  }
  if (hasResults && outcome !== undefined) loop.emit({ kind: "job-skipped", line, outcome });
}

/** How results that are in place came about; undefined: they are not this job's, which is still under way. */
function outcomeInPlace(job: JobState): Outcome | null | undefined {
  if (job.kind === "collected") return job.outcome;
  return job.kind === "waiting" ? null : undefined;
}

export function isToRerun(rerun: Rerun, line: number, outcome: Outcome | null, isChanged: boolean): boolean {
  if (typeof rerun !== "string") return rerun.has(line);
  if (rerun === "all") return true;
  return rerun === "changed" ? isChanged : rerun === "failed" && outcome !== null && !succeeded(outcome);
}

function tellResumed(loop: Loop, state: RunState): void {
  const holding = [...state.machines.values()].filter(
    ({ queued, running, ended }) => queued.size + running.size + ended.size > 0,
  );
  if (holding.length === 0) return;
  const jobs = [...state.jobs.values()];
  const count = (...kinds: JobState["kind"][]) => jobs.filter(({ kind }) => kinds.includes(kind)).length;
  loop.emit({
    kind: "run-resumed",
    done: count("collected", "skipped", "ended"),
    running: count("running"),
    waiting: count("waiting", "queued"),
    machines: holding.map(({ name }) => name),
    held: Object.fromEntries(
      holding.map(({ name, queued, running, ended }) => [name, [...queued, ...running, ...ended]]),
    ),
  });
}
