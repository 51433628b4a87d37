// The first events of a run: which jobs are done, which run again, and which are in progress.

import { readdirSync } from "node:fs";
import { isUnbegun } from "../model/attempt.js";
import type { BatchSettings } from "../model/batch.js";
import type { MachineState, TrackedJob } from "../model/batch-state.js";
import type { News } from "../model/event.js";
import type { Job, Outcome } from "../model/job.js";
import { kindOf, shortCommand, treeKeyOf } from "../model/job.js";
import { SPOOL_FORMAT } from "../model/machine.js";
import type { ScriptEdit } from "../model/script-edit.js";
import { isStoppable, type Standing, standingOf } from "../model/standing.js";
import { VERSION } from "../model/version.js";
import { arrivedAttempt, collectedNews, tryRests } from "../plan/fold/replay.js";
import type { RunState } from "../plan/run-state.js";
import type { Beginning } from "./beginning.js";
import { endMoving, moveResults } from "./home/move-results.js";
import type { Results } from "./home/results.js";
import type { Loop } from "./loop.js";
import type { BatchOrder } from "./order.js";
import { reopenJob } from "./reopen-job.js";
import { isToRerun } from "./rerun.js";

type NewsOf<K extends News["kind"]> = Extract<News, { kind: K }>;

export interface Opening {
  readonly order: Pick<BatchOrder, "script" | "results" | "rerun" | "goesOn" | "staysOpen">;
  readonly begun: Pick<
    Beginning,
    "batch" | "given" | "machines" | "state" | "jobs" | "past" | "edit" | "stem"
  >;
  readonly settings: BatchSettings;
}

/** Facts that are needed for every job, gathered once. */
interface Gathered {
  readonly hasResults: (name: string) => boolean;
  /** Collected jobs that are about to be retried. */
  readonly toRetry: ReadonlySet<number>;
}

export function openRun(loop: Loop, opening: Opening): void {
  const { order, begun, settings } = opening;
  const { script } = order;
  const { batch, state, edit } = begun;
  const jobs = [...begun.jobs.values()].filter(({ id }) => state.jobs.has(id));
  const machines = begun.machines.map(({ spec: { name, address, scratch, file, spool, resources } }) => ({
    name,
    address,
    scratch,
    file,
    ...(spool && { spool }),
    ...(resources && { resources }),
  }));
  if (order.staysOpen) clearTurns(loop, opening, listResults(order.results));
  const about = { sshoal: VERSION, spoolFormat: SPOOL_FORMAT, batch, script, jobs, machines, settings };
  if (edit === null) loop.emit({ kind: "run-started", ...about });
  else startEdited(loop, { ...about, edit }, opening);
  // An edit has moved results to other names.
  const hasResults = listResults(order.results);
  for (const job of jobs) tellCollected(loop, job, opening, hasResults);
  loop.settle();
  tryRests(state);
  const toRetry = new Set([...state.machines.values()].flatMap((machine) => [...machine.toRetry]));
  resumeStopped(loop, jobs, opening);
  const asked = order.staysOpen ? stopOthers(loop, opening) : jobs;
  for (const job of asked) openJob(loop, job, opening, { hasResults, toRetry });
  loop.settle();
  tellResumed(loop, state);
}

/**
 * The last client was killed before it gave these jobs to the run: what is there of them is not of this turn. Done before the
 * record has the new turn, or else a client that is killed in between leaves old results as those of the new turn.
 */
function clearTurns(
  loop: Loop,
  { order: { results }, begun: { state, past, given } }: Opening,
  hasResults: (name: string) => boolean,
): void {
  for (const job of given) {
    const before = past?.jobs.get(job.id);
    const tracked = state.jobs.get(job.id);
    if (tracked === undefined || isSameTurn(before, job)) continue;
    if (!isOver(standingOf(tracked), hasResults(job.name))) continue;
    if (before === undefined) results.moveAside(job.name);
    else reopenJob(results, job, loop.emit);
  }
  loop.settle();
}

/** The record has the edit before anything is moved or handed over. */
function startEdited(
  loop: Loop,
  about: Omit<NewsOf<"run-started">, "kind"> & { readonly edit: ScriptEdit },
  { order: { results }, begun: { stem } }: Opening,
): void {
  loop.commit({ kind: "run-started", ...about });
  if (about.edit.moves.length + about.edit.files.length === 0) return;
  moveResults(results, stem, about.edit);
  loop.commit({ kind: "results-moved" });
  endMoving(results, stem);
}

/** Reads the directory once instead of once per job. */
function listResults(results: Results): (name: string) => boolean {
  const names = new Set(readdirSync(results.dir));
  return (name) => (names.has(name) || name.includes("/")) && results.has(name);
}

/** An earlier client had put the results into place, and was killed before it recorded that. */
function tellCollected(
  loop: Loop,
  { id, name }: Job,
  { begun: { state, past } }: Opening,
  hasResults: (name: string) => boolean,
): void {
  const tracked = state.jobs.get(id);
  if (past === null || tracked === undefined || !hasResults(name)) return;
  if (standingOf(tracked).kind === "collected") return;
  const arrived = arrivedAttempt(tracked, past);
  if (arrived !== null) loop.emit(collectedNews(arrived, past));
}

/** The stopped jobs that had not ended. */
function resumeStopped(
  loop: Loop,
  jobs: readonly Job[],
  { order: { rerun }, begun: { state } }: Opening,
): void {
  const isOpen = ({ id }: Job) => {
    const tracked = state.jobs.get(id);
    return (
      tracked !== undefined &&
      !tracked.traits.isGone &&
      (tracked.fate.kind === "stopped" || isStoppable(tracked))
    );
  };
  const wanted = jobs.filter((job) => state.stopping.has(job.id) && isOpen(job));
  const resumed = wanted.filter(({ id }) => isToRerun(rerun, id, { kind: "stopped" })).map(({ id }) => id);
  if (resumed.length > 0) loop.emit({ kind: "jobs-resumed", jobs: resumed });
  loop.settle();
}

/** Jobs that the caller has not given begin no more; those that have begun are followed. Returns the others. */
function stopOthers(loop: Loop, { begun: { state, given } }: Opening): readonly Job[] {
  const ids = new Set(given.map(({ id }) => id));
  const isOpen = ({ job: { id }, fate }: TrackedJob) =>
    !ids.has(id) && (fate.kind === "waiting" || (fate.kind === "tried" && isUnbegun(fate)));
  const others = [...state.jobs.values()].filter(isOpen).map(({ job }) => job.id);
  if (others.length > 0) loop.emit({ kind: "jobs-stopping", jobs: others });
  return given;
}

function openJob(
  loop: Loop,
  given: Job,
  { order: { results, rerun, goesOn, staysOpen }, begun: { state, past } }: Opening,
  gathered: Gathered,
): void {
  const { id, line, name, command } = given;
  const tracked = state.jobs.get(id);
  const hasResults = gathered.hasResults(name);
  if (tracked === undefined || tracked.traits.isGone) return;
  const job = standingOf(tracked);
  const reopen = () => reopenJob(results, { id, name }, loop.emit);
  // Of an earlier turn, and only now known to be here.
  if (staysOpen && isOver(job, hasResults) && !isSameTurn(past?.jobs.get(id), given)) return reopen();
  // The user deleted the results, which means that the job is to run again.
  if (job.kind === "collected" && !hasResults) return reopen();
  const ran = past?.commands.get(id);
  const isChanged = ran !== undefined && ran !== command;
  const outcome = outcomeInPlace(job);
  if (hasResults && outcome !== undefined && isToRerun(rerun, id, outcome)) return reopen();
  if (gathered.toRetry.has(id)) return;
  if (
    tracked.fate.kind === "tried" &&
    isUnbegun(tracked.fate) &&
    (isChanged || hasOtherNeeds(past?.jobs.get(id), given))
  )
    return loop.emit({ kind: "job-replaced", job: id });
  if (isChanged && (hasResults || !isUndecided(job))) {
    const message = `line ${line ?? id} has changed: its results are from the old command: ${shortCommand({ command: ran })} (to run it again, leave out --keep-changed)`;
    loop.emit({ kind: "warning", message });
  }
  if (goesOn && job.kind === "collected" && !goesOn.skipped.has(id)) return;
  if (!hasResults || outcome === undefined) return;
  const isUnasked = !goesOn && (rerun === "none" || typeof rerun !== "string");
  loop.emit({ kind: "job-skipped", job: id, outcome, ...(isUnasked && { isUnasked }) });
}

/** A waiting job on a machine would start with its old requirement or files, or too early. */
function hasOtherNeeds(past: Partial<Job> = {}, given: Job): boolean {
  if (JSON.stringify(past.dependsOn) !== JSON.stringify(given.dependsOn)) return true;
  if (past.cwd !== given.cwd || past.priority !== given.priority) return true;
  return kindOf(past.requirement) !== kindOf(given.requirement) || treeKeyOf(past) !== treeKeyOf(given);
}

/** It has ended, or would count as done because there are results. */
function isOver({ kind }: Standing, hasResults: boolean): boolean {
  return (
    kind === "collected" || kind === "skipped" || kind === "stopped" || (kind === "waiting" && hasResults)
  );
}

function isSameTurn(past: Job | undefined, { turn = 0 }: Job): boolean {
  return past !== undefined && (past.turn ?? 0) === turn;
}

/** How the results in place came about; undefined if they belong to another job and this one is still in progress. */
function outcomeInPlace(job: Standing): Outcome | null | undefined {
  if (job.kind === "collected") return job.outcome;
  return isUndecided(job) ? null : undefined;
}

/** It has not begun, and may wait for other jobs or be skipped because of them. */
function isUndecided({ kind }: Standing): boolean {
  return kind === "waiting" || kind === "blocked" || kind === "unneeded";
}

function tellResumed(loop: Loop, state: RunState): void {
  const holding = [...state.machines.values()].filter(({ current }) => currentOf(current).length > 0);
  if (holding.length === 0) return;
  const { tally } = state;
  loop.emit({
    kind: "run-resumed",
    done: state.jobs.size - tally.waiting - tally.running - tally.unknown,
    running: tally.running,
    waiting: tally.waiting,
    machines: holding.map(({ name }) => name),
    held: Object.fromEntries(holding.map(({ name, current }) => [name, currentOf(current)])),
  });
}

function currentOf({ assigned, sent, queued, running, ended }: MachineState["current"]): number[] {
  return [...assigned, ...sent, ...queued, ...running, ...ended].map(({ job }) => job);
}
