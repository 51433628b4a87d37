// The batches of this directory: the state of each by its record and its local results, and the client that follows it.

import { readdirSync } from "node:fs";
import { hostname } from "node:os";
import path from "node:path";
import { UserError } from "../../errors.js";
import { formatJobStem } from "../../input/batch/job-name.js";
import { suggest } from "../../input/suggest.js";
import type { BatchSettings } from "../../model/batch.js";
import type { RunEvent } from "../../model/event.js";
import type { Job } from "../../model/job.js";
import { standingOf } from "../../model/standing.js";
import { apply } from "../../plan/fold/apply.js";
import { forgetGone } from "../../plan/fold/edit-events.js";
import { initialState } from "../../plan/fold/initial-state.js";
import { olderFormats, type Past, type RecordedMachine, readPast } from "../../plan/fold/read-past.js";
import { arrivedAttempt, collectedNews, replay } from "../../plan/fold/replay.js";
import { type RunState, toChange } from "../../plan/run-state.js";
import { type Holder, heldError, readHolder } from "../../run/home/lock.js";
import { loadRecord } from "../../run/home/record.js";
import type { Results } from "../../run/home/results.js";
import { quoteIfNeeded } from "../../transport/quote.js";
import { isSameFile } from "./batch-stem.js";

export interface BatchHere {
  /** The prefix for its jobs' names. */
  readonly stem: string;
  readonly batch: string;
  readonly script: string;
  /** The working directory: the script's path is relative to it. */
  readonly dir: string;
  readonly settings: BatchSettings;
  /** Its jobs come from a growing file. */
  readonly isFollowed: boolean;
  /** The jobs of its last run. */
  readonly jobs: readonly Job[];
  readonly machines: ReadonlyMap<string, RecordedMachine>;
  /** As in Past. */
  readonly slots: Past["slots"];
  readonly state: RunState;
  /** As in Past. */
  readonly kept: Past["kept"];
  readonly stuck: Past["stuck"];
  /** The client that follows it; null: none does. */
  readonly holder: Holder | null;
}

const ENDING = ".jsonl";
/** Reading a batch decides nothing. */
const NO_POLICY = { retries: 0, retriesFailures: false, reassignAfterMs: null };

/** Throws UserError if there is none. */
export function loadBatches(results: Results): BatchHere[] {
  const batches = loadAnyBatches(results);
  if (batches.length > 0) return batches;
  throw new UserError(`no batch was ever run in ${path.dirname(results.dir)}`, {
    hint: "cd to where execute_batch was started; sshoal status --all lists your directories",
  });
}

export function loadAnyBatches(results: Results): BatchHere[] {
  return stemsHere(results).flatMap((stem) => loadBatch(results, stem) ?? []);
}

/** The prefix for the jobs' names of each batch. */
export function stemsHere(results: Results): string[] {
  return listOrNothing(results.privateDir)
    .filter((name) => name.endsWith(ENDING))
    .map((name) => name.slice(0, -ENDING.length));
}

/** Null: its record has no run. */
export function loadBatch(results: Results, stem: string): BatchHere | null {
  // Read before the record: a client that starts in between has then written what we read.
  const holder = readBatchHolder(results, stem);
  const events = loadRecord(path.join(results.privateDir, stem + ENDING));
  const past = readPast(events);
  const last = events.findLast((event) => event.kind === "run-started");
  if (past === null || last === undefined) return null;
  const { script } = last;
  const { batch, machines, kept, stuck, lastJobs } = past;
  const formats = olderFormats(machines.values());
  const state = initialState({
    jobs: lastJobs,
    machines: machineNames(events, past),
    formats,
    policy: NO_POLICY,
  });
  replay(state, events);
  for (const { name } of machines.values()) toChange(state, name).slots = past.slots.get(name)?.length ?? 0;
  forgetGone(state);
  const jobs = lastJobs.filter(({ id }) => state.jobs.has(id));
  compareWithResults(state, jobs, past, new Set(listOrNothing(results.dir)));
  return {
    stem,
    batch,
    script,
    dir: path.dirname(results.dir),
    settings: past.settings,
    isFollowed: past.position !== null,
    jobs,
    machines,
    slots: past.slots,
    state,
    kept,
    stuck,
    holder,
  };
}

export function readBatchHolder(results: Results, stem: string): Holder | null {
  return readHolder(path.join(results.privateDir, `${stem}.lock`));
}

/** For a command that cannot act while another client has the batch. */
export function heldErrorOf(results: Results, stem: string): UserError {
  const lock = path.join(results.privateDir, `${stem}.lock`);
  const holder = readHolder(lock);
  if (holder !== null) return heldError(lock, holder);
  return new UserError("the client that followed the batch is gone; jobs continue", {
    hint: "sshoal attach",
  });
}

function listOrNothing(dir: string): string[] {
  try {
    return readdirSync(dir).sort();
  } catch {
    return [];
  }
}

/** A damaged record may name machines without an address. */
function machineNames(events: readonly RunEvent[], past: Past): string[] {
  const named = events.flatMap((event) => ("machine" in event ? [event.machine] : []));
  return [...new Set([...past.machines.keys(), ...named])];
}

/** If results were deleted, the job is to run again; results without a record count as done. */
function compareWithResults(
  state: RunState,
  jobs: readonly Job[],
  past: Past,
  there: ReadonlySet<string>,
): void {
  for (const { id, name } of jobs) {
    const tracked = state.jobs.get(id);
    if (tracked === undefined) continue;
    const isThere = there.has(name);
    const arrived = isThere ? arrivedAttempt(tracked, past) : null;
    if (arrived !== null) apply(state, { ...collectedNews(arrived, past), at: 0 });
    const { kind } = standingOf(tracked);
    if (kind === "collected" && !isThere) apply(state, { kind: "job-reopened", job: id, at: 0 });
    if (kind === "waiting" && isThere) apply(state, { kind: "job-skipped", job: id, outcome: null, at: 0 });
  }
}

/** `word`: a batch's name, or its script, typed in any way. Throws UserError if it is neither. */
export function chooseBatch(batches: readonly BatchHere[], word: string): BatchHere {
  const chosen = findBatch(batches, word);
  if (chosen !== null) return chosen;
  const known = batches.flatMap(({ batch, script }) => [batch, script]);
  throw new UserError(`there is no batch ${word} here`, { hint: hintAtNames(word, known) });
}

/** `word`: null: the only one that a client follows. Throws UserError if there is none, or more than one. */
export function chooseFollowed(batches: readonly BatchHere[], word: string | null): BatchHere {
  const some = word === null ? batches : [chooseBatch(batches, word)];
  const [only, ...others] = some.filter(({ holder }) => holder !== null);
  if (only === undefined) {
    const what = word === null ? "a batch here" : word;
    throw new UserError(`no client follows ${what}`, { hint: "sshoal attach follows it" });
  }
  if (others.length === 0) return only;
  const names = [only, ...others].map(({ batch }) => batch).join(", ");
  throw new UserError(`which batch? There are ${names}`, { hint: `sshoal attach --watch ${only.batch}` });
}

export function findBatch<B extends Pick<BatchHere, "batch" | "script" | "dir" | "stem">>(
  batches: readonly B[],
  word: string,
): B | null {
  const found =
    batches.find(({ batch }) => batch === word) ??
    batches.find(({ script, dir }) => isSameFile(dir, script, word)) ??
    batches.find(({ stem }) => stem === formatJobStem(word));
  return found ?? null;
}

/** "did you mean …?", or the list of names. */
export function hintAtNames(word: string, known: readonly string[]): string {
  const near = suggest(word, known).slice(0, 3);
  if (near.length > 0) return `did you mean ${near.join(" or ")}?`;
  const listed = known.slice(0, 5).join(", ");
  if (known.length === 1) return `there is ${listed}`;
  return known.length > 5 ? `there are ${listed} and ${known.length - 5} more` : `there are ${listed}`;
}

/** "process 1234", and its computer if it is another one. */
export function describeHolder({ pid, host }: Holder): string {
  return host === hostname() ? `process ${pid}` : `process ${pid} on ${host}`;
}

/** The command that resumes a batch: its record has the options. */
export function resumeCommand({ stem }: Pick<BatchHere, "stem">): string {
  return `sshoal attach ${quoteIfNeeded(stem)}`;
}

export function isSweep(jobs: readonly Job[]): boolean {
  return jobs.some(({ parameters }) => parameters !== undefined);
}
