// Where a run begins: the lock and the record of its batch, and the state that an earlier client left.

import { randomBytes } from "node:crypto";
import path from "node:path";
import type { Job, JobId } from "../model/job.js";
import { initialState } from "../plan/fold/initial-state.js";
import { forgetJobs, olderFormats, type Past, readPast, replay } from "../plan/fold/replay.js";
import type { RunState } from "../plan/run-state.js";
import { Feed } from "./feed.js";
import { writingTo } from "./home/disk-error.js";
import { takeLock } from "./home/lock.js";
import { loadRecord, RunRecord } from "./home/record.js";
import type { BatchOrder } from "./order.js";
import { type RunMachine, runMachines } from "./run-machines.js";

export interface Beginning {
  /** What the names of its jobs, its record and its lock begin with. */
  readonly stem: string;
  /** Names the batch on machines. */
  readonly batch: string;
  /** Null: this is its first run. */
  readonly past: Past | null;
  readonly machines: readonly RunMachine[];
  readonly state: RunState;
  /** Those that this run is about; more may come. */
  readonly jobs: Map<JobId, Job>;
  readonly feed: Feed | null;
  readonly record: RunRecord;
  readonly recordPath: string;
  unlock(): void;
}

/** Throws UserError while another client has the batch. */
export function beginRun(order: BatchOrder): Beginning {
  const { privateDir } = order.results;
  const stem = order.feed?.stem ?? (order.jobs[0]?.name ?? "").replace(/\.\d+$/, "");
  const unlock = writingTo(privateDir, () => takeLock(path.join(privateDir, `${stem}.lock`)));
  const recordPath = path.join(privateDir, `${stem}.jsonl`);
  const events = loadRecord(recordPath);
  const past = readPast(events);
  const batch = batchGoingOn(past) ?? `${stem.slice(0, 60)}-${randomBytes(4).toString("hex")}`;
  const machines = runMachines(batch, order.machines, past);
  const state = initialState({
    jobs: [...order.jobs, ...removedJobs(order.jobs, past)],
    machines: machines.map(({ spec }) => spec.name),
    formats: olderFormats(machines.map(({ spec }) => spec)),
    closed: machines.filter(({ isOpen }) => !isOpen).map(({ spec }) => spec.name),
    policy: order.policy,
    isMoreToCome: order.feed !== null,
  });
  replay(state, events);
  const feed = order.feed && new Feed({ ...order, order: order.feed, past, state });
  const given = feed?.given ?? order.jobs;
  const removed = removedJobs(given, past);
  forgetJobs(
    state,
    removed.map(({ id }) => id),
  );
  const jobs = new Map([...given, ...removed].map((job) => [job.id, job]));
  const record = writingTo(privateDir, () => new RunRecord(recordPath));
  return { stem, batch, past, machines, state, jobs, feed, record, recordPath, unlock };
}

/** Null: it is new, or an older version's spools have its name, which get no more jobs. */
function batchGoingOn(past: Past | null): string | null {
  if (past === null) return null;
  const { batch, machines } = past;
  return [...machines.values()].some(({ spool }) => spool?.batch === batch) ? null : batch;
}

/** Jobs that an earlier run had and the batch file has no more: they may still be under way. */
function removedJobs(given: readonly Job[], past: Past | null): Job[] {
  const ids = new Set(given.map(({ id }) => id));
  return [...(past?.jobs.values() ?? [])].filter(({ id }) => !ids.has(id));
}
