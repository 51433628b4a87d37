// One run of a batch: its record, its state and its loop, from the first event to the last. A batch that an earlier
// client began goes on from where the record left it.

import { randomBytes } from "node:crypto";
import path from "node:path";
import type { BatchSettings, FeedPosition } from "../model/batch.js";
import type { RunEvent } from "../model/event.js";
import type { Job } from "../model/job.js";
import type { MachineSpec } from "../model/machine.js";
import { initialState } from "../plan/fold/initial-state.js";
import { forgetJobs, type Past, type RecordedMachine, readPast, replay } from "../plan/fold/replay.js";
import { heldBy, incompleteOf } from "../plan/holdings.js";
import { countUnbegun, isHandedOver } from "../plan/remaining.js";
import { countJobs, isUnderWay, keyOn, machineOf, type Policy, type RunState } from "../plan/run-state.js";
import { kindsOf } from "../plan/slots/kinds.js";
import { isEmpty } from "../plan/stock.js";
import { isOfThisDisk, writingTo } from "./disk-error.js";
import { type Arrival, Feed, type FeedOrder } from "./feed.js";
import { takeLock } from "./lock.js";
import { type Loop, makeLoop } from "./loop.js";
import { openRun, type Rerun } from "./opening.js";
import { OutputFiles } from "./output-files.js";
import { Performer } from "./perform.js";
import { loadRecord, RunRecord } from "./record.js";
import type { RunContext } from "./run-context.js";
import { type ShowOutput, Tee } from "./tee.js";

type Derived =
  | "batch"
  | "jobs"
  | "kinds"
  | "outputs"
  | "keyOn"
  | "machines"
  | "commit"
  | "mostJobs"
  | "pastSlots"
  | "heldBy"
  | "isUnderWay"
  | "isSuperseded"
  | "settings";

export interface BatchOrder extends Omit<RunContext, Derived> {
  readonly script: string;
  /** Those that are known from the start. */
  readonly jobs: readonly Job[];
  /** More come while the batch runs, and none is known from the start; null: `jobs` are all. */
  readonly feed: FeedOrder | null;
  readonly machines: readonly MachineSpec[];
  /** For the record: relative to the working directory. */
  readonly copyForward: readonly string[];
  readonly policy: Policy;
  /** Which of the jobs that are done are to be run again. */
  readonly rerun: Rerun;
  /** After it was applied; `isNews` is false for what was known before. */
  readonly onEvent: (event: RunEvent, isNews: boolean) => void;
  /** What jobs print is told here; left out: it is not. */
  readonly onOutput?: ShowOutput;
}

export interface BatchRun {
  readonly state: RunState;
  /** Resolves with the state at the end. Rejects when abandoned. Closes every connection either way. */
  finish(): Promise<RunState>;
  readonly emit: Loop["emit"];
  /** Leaves everything to go on over there; finish() rejects with the reason. */
  abandon(reason: Error): void;
  /** Every job is over there, or done. */
  isHandedOver(): boolean;
  /** How far the file was read that jobs are from; null: it was not, or jobs are from no such file. */
  readonly position: FeedPosition | null;
  /** Jobs that have come, for a batch with a feed; `position`: how far a file was read by then. */
  add(arrivals: readonly Arrival[], position: FeedPosition | null): void;
  /** How many jobs nobody has begun. */
  countUnbegun(): number;
}

/** Throws UserError while another client has the batch. */
export function startRun(order: BatchOrder): BatchRun {
  const { results } = order;
  const stem = order.feed?.stem ?? (order.jobs[0]?.name ?? "").replace(/\.\d+$/, "");
  const unlock = writingTo(results.privateDir, () => takeLock(path.join(results.privateDir, `${stem}.lock`)));
  const recordPath = path.join(results.privateDir, `${stem}.jsonl`);
  const events = loadRecord(recordPath);
  const past = readPast(events);
  const machines = [...order.machines, ...leftBehind(order.machines, past)];
  const known = [...order.jobs, ...removedJobs(order.jobs, past)];
  const state = initialState({
    jobs: known,
    machines: machines.map(({ name }) => name),
    closed: machines.slice(order.machines.length).map(({ name }) => name),
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

  const record = writingTo(results.privateDir, () => new RunRecord(recordPath));
  const batch = past?.batch ?? `${stem.slice(0, 60)}-${randomBytes(4).toString("hex")}`;
  results.removeIncoming(batch);
  const tee = order.onOutput === undefined ? null : new Tee(order.onOutput);
  const performer = new Performer({
    ...order,
    batch,
    machines,
    settings: settingsOf(order),
    kinds: kindsOf(order.jobs),
    jobs,
    mostJobs: feed === null ? jobs.size : Number.POSITIVE_INFINITY,
    outputs: new OutputFiles(results, past?.begun ?? new Set(), tee, past?.kept),
    pastSlots: past?.slots ?? new Map(),
    keyOn: (name, id) => keyOn(state, name, id),
    isUnderWay: (name, id, attempt) => isUnderWay(state, name, id, attempt),
    isSuperseded: (name, id, number) => {
      const attempt = machineOf(state, name).attempts.get(id);
      return attempt?.number === number && !attempt.isCurrent;
    },
    heldBy: (name) => heldBy(machineOf(state, name)),
    commit: (news) => loop.commit(news),
  });
  const loop = makeLoop({ state, perform: performer.perform, record, onEvent: order.onEvent, now: Date.now });
  // Nothing is given to anybody before it is read: it may still be said what cannot be.
  order.tree.catch(loop.abandon);

  const finish = async () => {
    try {
      const opening = {
        ...order,
        settings: settingsOf(order),
        jobs: [...jobs.values()].filter(({ id }) => state.jobs.has(id)),
        machines,
        batch,
        state,
        past,
      };
      writingTo(results.privateDir, () => openRun(loop, opening));
      await loop.run();
      tellSilent(loop, state);
      tellUncleaned(loop, state);
      const incomplete = [...state.machines.values()].flatMap(({ rests }) =>
        [...rests.values()].map(incompleteOf),
      );
      const counts = countJobs(state);
      loop.emit({ kind: "run-ended", counts, ...(incomplete.length > 0 && { incomplete }) });
      await loop.flush();
      return state;
    } finally {
      tee?.stop();
      await performer.close();
      await loop.idle();
      results.removeIncoming(batch);
      close(loop, record);
      // No machine got a job, now or ever: nothing is worth remembering.
      if (past === null && !wasAnyTried(state)) results.removeUnused(recordPath, unlock);
      else unlock();
    }
  };
  const add = (arrivals: readonly Arrival[], position: FeedPosition | null) => {
    const taken = feed?.take(arrivals) ?? { jobs: [], done: [] };
    for (const job of taken.jobs) jobs.set(job.id, job);
    loop.emit({ kind: "jobs-added", jobs: taken.jobs, position });
    for (const { id, outcome } of taken.done) loop.emit({ kind: "job-skipped", job: id, outcome });
  };
  return {
    state,
    finish,
    emit: loop.emit,
    abandon: loop.abandon,
    isHandedOver: () => isHandedOver(state),
    position: feed?.position ?? null,
    add,
    countUnbegun: () => countUnbegun(state),
  };
}

function wasAnyTried({ jobs }: RunState): boolean {
  for (const { lastNumber } of jobs.values()) if (lastNumber > 0) return true;
  return false;
}

function tellUncleaned(loop: Loop, { machines }: RunState): void {
  for (const machine of machines.values()) {
    if (machine.phase !== "lost" || !machine.hasSpool || !isEmpty(machine)) continue;
    const message = `${machine.name} is out of reach; what the batch left there goes when you type the same command again`;
    loop.emit({ kind: "warning", message });
  }
}

/** What the last verbs told is kept if it can be; without it the next client asks the machines again. */
function close(loop: Loop, record: RunRecord): void {
  try {
    loop.settle();
    record.close();
  } catch (error) {
    if (!isOfThisDisk(error)) throw error;
  }
}

/** Nobody waits for a machine that is still being connected to when the last job is home. */
function tellSilent(loop: Loop, { machines }: RunState): void {
  const reason = "it had not answered when the last job was done";
  for (const { name, phase } of machines.values()) {
    if (phase === "connecting") loop.emit({ kind: "machine-failed", machine: name, reason, hint: null });
  }
}

function settingsOf(order: BatchOrder): BatchSettings {
  const { requirement, timeoutSeconds, inPlace, copyForward, copyBack, copiesUnchanged, env } = order;
  const envNames = Object.keys(env);
  return { requirement, timeoutSeconds, inPlace, copyForward, copyBack, copiesUnchanged, envNames };
}

/** Jobs that an earlier run had and the batch file has no more: they may still be under way. */
function removedJobs(given: readonly Job[], past: Past | null): Job[] {
  const ids = new Set(given.map(({ id }) => id));
  return [...(past?.jobs.values() ?? [])].filter(({ id }) => !ids.has(id));
}

/** Machines of the record that were not named this time: they get no new jobs, but what they have is fetched. */
function leftBehind(given: readonly MachineSpec[], past: Past | null): MachineSpec[] {
  const names = new Set(given.map(({ name }) => name));
  const others = [...(past?.machines.values() ?? [])].filter(({ name }) => !names.has(name));
  return others.map(bareSpec);
}

function bareSpec(machine: RecordedMachine): MachineSpec {
  return {
    ...machine,
    gpus: null,
    excludeGpus: [],
    maxJobs: null,
    env: {},
    setup: [],
    hasPlainSlots: false,
    keepFree: { memoryMb: 0, cpus: 0, gpus: 0 },
  };
}
