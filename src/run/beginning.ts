// The start of a run: the lock and the record of its batch, and the state that an earlier client left.

import { randomBytes } from "node:crypto";
import { readdirSync } from "node:fs";
import path from "node:path";
import type { Job, JobId } from "../model/job.js";
import type { ScriptEdit } from "../model/script-edit.js";
import { editOf, matchGiven } from "../plan/edit/compare-script.js";
import { forgetGone } from "../plan/fold/edit-events.js";
import { initialState } from "../plan/fold/initial-state.js";
import { olderFormats, type Past, readPast } from "../plan/fold/read-past.js";
import { replay } from "../plan/fold/replay.js";
import { settleJobs } from "../plan/fold/settle-jobs.js";
import type { RunState } from "../plan/run-state.js";
import { Feed } from "./feed.js";
import { writingTo } from "./home/disk-error.js";
import { RunLock } from "./home/lock.js";
import { endMoving, moveResults } from "./home/move-results.js";
import { loadRecord, RunRecord } from "./home/record.js";
import type { Results } from "./home/results.js";
import type { BatchOrder } from "./order.js";
import { type RunMachine, runMachines } from "./run-machines.js";

export interface Beginning {
  /** The prefix for the names of its jobs, its record and its lock. */
  readonly stem: string;
  /** The name of the batch on machines. */
  readonly batch: string;
  /** Null: this is its first run. */
  readonly past: Past | null;
  readonly machines: readonly RunMachine[];
  readonly state: RunState;
  /** The jobs of this run; more may arrive. */
  readonly jobs: Map<JobId, Job>;
  /** The jobs that the user asked for. */
  readonly given: readonly Job[];
  /** Null: the batch file has not changed. */
  readonly edit: ScriptEdit | null;
  readonly jobEnv: BatchOrder["jobEnv"];
  readonly feed: Feed | null;
  readonly record: RunRecord;
  readonly recordPath: string;
  unlock(): void;
}

/** Throws UserError if another client has the batch. */
export function beginRun(order: BatchOrder): Beginning {
  const { results, stem } = order;
  const { privateDir } = results;
  const lock = order.lock ?? new RunLock({});
  writingTo(privateDir, () => lock.take(path.join(privateDir, `${stem}.lock`)));
  const recordPath = path.join(privateDir, `${stem}.jsonl`);
  const events = loadRecord(recordPath);
  const past = readPast(events);
  const batch = batchGoingOn(past) ?? `${stem.slice(0, 60)}-${randomBytes(4).toString("hex")}`;
  const machines = runMachines(batch, order.machines, past);
  const state = initialState({
    jobs: [...(past?.jobs.values() ?? [])],
    machines: machines.map(({ spec }) => spec.name),
    formats: olderFormats(machines.map(({ spec }) => spec)),
    closed: machines.filter(({ isOpen }) => !isOpen).map(({ spec }) => spec.name),
    policy: order.policy,
    isMoreToCome: order.feed !== null || order.staysOpen === true,
  });
  replay(state, events);
  forgetGone(state);
  const record = writingTo(privateDir, () => new RunRecord(recordPath));
  writingTo(privateDir, () => finishMoving(past, results, stem, record));
  const feed = order.feed && new Feed({ ...order, order: order.feed, past, state });
  const asked = feed === null ? findJobs(order, past, state) : { ...UNEDITED, given: feed.given };
  const jobs = settleJobs(state, { ...asked, past, staysOpen: order.staysOpen === true });
  return {
    stem,
    batch,
    past,
    machines,
    state,
    jobs,
    ...asked,
    feed,
    record,
    recordPath,
    unlock: lock.release,
  };
}

/** Null if the batch is new, or if its name belongs to spools of an older version, which get no more jobs. */
function batchGoingOn(past: Past | null): string | null {
  if (past === null) return null;
  const { batch, machines } = past;
  return [...machines.values()].some(({ spool }) => spool?.batch === batch) ? null : batch;
}

/** Finishes renaming results if an earlier client was killed while it did so. */
function finishMoving(past: Past | null, results: Results, stem: string, record: RunRecord): void {
  if (past?.unmoved) {
    moveResults(results, stem, past.unmoved);
    record.append([{ kind: "results-moved", at: Date.now() }]);
    record.sync();
  }
  endMoving(results, stem);
}

type Asked = Pick<Beginning, "given" | "edit" | "jobEnv">;
const UNEDITED = { edit: null, jobEnv: undefined };

/** Finds the requested jobs in the record. */
function findJobs(order: BatchOrder, past: Past | null, state: RunState): Asked {
  const { jobs, matching: by, jobEnv, results } = order;
  if (past === null || by === "id") return { given: jobs, edit: null, jobEnv };
  const compared = { given: jobs, past, state };
  const matching = matchGiven(compared, by);
  const edit = by === "command" ? editOf(compared, matching, readdirSync(results.dir)) : null;
  const renumbered = jobEnv && new Map([...jobEnv].map(([id, env]) => [matching.ids.get(id) ?? id, env]));
  return { given: matching.jobs, edit, jobEnv: renumbered };
}
