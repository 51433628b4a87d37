// One run of a batch: its record, its state and its loop, from the first event to the last. A batch of an earlier
// client resumes from its record.

import type { BatchSettings, FeedPosition } from "../model/batch.js";
import { hasOwnFiles, type Job, type JobId, mergesOutputOf, type OwnFiles, treeKeyOf } from "../model/job.js";
import { limitOfJob } from "../model/output-limit.js";
import { outcomeAtHome } from "../model/standing.js";
import type { Past } from "../plan/fold/read-past.js";
import { asGrown } from "../plan/grown.js";
import { countUnbegun } from "../plan/remaining.js";
import type { RunState } from "../plan/run-state.js";
import { type Kinds, kindsOf } from "../plan/slots/kinds.js";
import type { Tree } from "../remote/tree/tree.js";
import { type Env, makeAdmitting } from "./admitting.js";
import { type Beginning, beginRun } from "./beginning.js";
import { leaveRecord, tellEnd } from "./ending.js";
import type { Arrival } from "./feed.js";
import { writingTo } from "./home/disk-error.js";
import { OutputFiles } from "./home/output-files.js";
import { ResultPruner } from "./home/prune-results.js";
import { Tee } from "./home/tee.js";
import { type Loop, makeLoop } from "./loop.js";
import { openRun } from "./opening.js";
import type { BatchOrder } from "./order.js";
import { reopenJob } from "./reopen-job.js";
import { Known } from "./verbs/known.js";
import { Performer } from "./verbs/perform.js";
import type { Terms } from "./verbs/terms.js";

export interface BatchRun {
  /** The name of the batch on machines. */
  readonly batch: string;
  readonly state: RunState;
  /** Resolves with the state at the end; rejects if abandoned. Closes every connection in both cases. */
  finish(): Promise<RunState>;
  readonly emit: Loop["emit"];
  /** Ends the run and leaves the jobs on their machines; finish() rejects with the reason. */
  abandon(reason: Error): void;
  /** How far the jobs' file was read; null if it was not read or the jobs do not come from a growing file. */
  readonly position: FeedPosition | null;
  /** Reads the files of a job that has its own. Call it before the job is added; rejects if they cannot be read. */
  readTree(own: OwnFiles): Promise<void>;
  /** Adds jobs that arrived, for a batch with a feed. `position`: how far a file was read by then. */
  add(arrivals: readonly Arrival[], position: FeedPosition | null): void;
  /**
   * Adds these jobs, for a batch that stays open. A job that is over runs again, as it is now. Results under their names move
   * aside. `env`: of the jobs that have variables of their own.
   */
  give(jobs: readonly Job[], env: ReadonlyMap<JobId, Env>): void;
  /** How many jobs have not begun. */
  countUnbegun(): number;
  /** The size of the record, which has every event so far. */
  readonly recordBytes: number;
  /** Moves the results of these jobs aside, and runs the jobs again. */
  reopen(jobs: readonly JobId[]): void;
  /** Stops the machine from taking jobs, or allows it again. Rejects if the machine cannot be asked. */
  setDraining(machine: string, isDraining: boolean): Promise<void>;
}

/** Throws UserError if another client has the batch. */
export function startRun(order: BatchOrder): BatchRun {
  const { results, fleet } = order;
  const begun = beginRun(order);
  const { batch, machines, state, jobs, feed } = begun;
  results.removeIncoming(batch);
  const kinds = new Map(kindsOf(begun.given.map((job) => asGrown(state, job))));
  const jobEnv = new Map(begun.jobEnv);
  const trees = new Map([...order.trees, ...missingTrees(order, begun)]);
  const terms = { ...termsOf(order, begun), trees, kinds, jobEnv };
  const tee = order.onOutput === undefined ? null : new Tee(order.onOutput);
  const known = new Known(state, jobs);
  const outputs = outputsOf(order, { past: begun.past, known, tee });
  const { maxOld } = order.settings;
  const pruner = maxOld === undefined ? null : new ResultPruner(results, batch, maxOld);
  const home = {
    results,
    outputs,
    pruner,
    commit: (news: Parameters<Loop["commit"]>[0]) => loop.commit(news),
  };
  const performer = new Performer({ machines, fleet, terms, kinds, known, home });
  const { perform } = performer;
  const loop = makeLoop({ state, perform, record: begun.record, onEvent: order.onEvent, now: Date.now });
  // Machines get no jobs before the trees are read, because reading a tree may still fail.
  for (const key of neededTrees(begun)) trees.get(key)?.catch(loop.abandon);

  const finish = async () => {
    try {
      writingTo(results.privateDir, () => openRun(loop, { order, begun, settings: terms.settings }));
      await loop.run();
      const { requirement } = terms.settings;
      await tellEnd(loop, state, { removed: pruner?.removed, requirement, machines: performer.measured() });
      return state;
    } finally {
      tee?.stop();
      await performer.close();
      await loop.idle();
      results.removeIncoming(batch);
      leaveRecord(loop, begun, results);
    }
  };
  const judge = (fresh: Kinds) => performer.judge(fresh, loop.emit);
  const { emit } = loop;
  const { add, give } = makeAdmitting({ state, feed, results, jobs, jobEnv, kinds, judge, emit });
  const reopen = (ids: readonly JobId[]) => {
    for (const id of ids) reopenJob(results, known.job(id), loop.emit);
  };
  return {
    batch,
    state,
    finish,
    emit,
    abandon: loop.abandon,
    position: feed?.position ?? null,
    readTree: (own) => readMissingTree(order, own, trees),
    add,
    give,
    countUnbegun: () => countUnbegun(state),
    get recordBytes() {
      return begun.record.bytes;
    },
    reopen,
    setDraining: (machine, isDraining) => performer.setDraining(machine, isDraining, loop.emit),
  };
}

interface OutputOwners {
  readonly past: Past | null;
  readonly known: Known;
  readonly tee: Tee | null;
}

function outputsOf({ results, settings }: BatchOrder, { past, known, tee }: OutputOwners): OutputFiles {
  return new OutputFiles(results, past?.begun ?? new Set(), {
    tee,
    kept: past?.kept,
    mergesOutput: (key) => mergesOutputOf(known.jobOfKey(key), settings),
    limitOf: (key) => limitOfJob(known.jobOfKey(key), settings.maxOutput),
  });
}

async function readMissingTree(
  { readTree }: BatchOrder,
  own: OwnFiles,
  trees: Map<string, Promise<Tree>>,
): Promise<void> {
  const key = treeKeyOf(own);
  if (trees.has(key) || readTree === undefined) return;
  const tree = await readTree(own);
  trees.set(key, Promise.resolve(tree));
}

/** Of jobs that arrived or were given in an earlier run. */
function missingTrees({ trees, readTree }: BatchOrder, { given }: Beginning): Map<string, Promise<Tree>> {
  const missing = new Map<string, Promise<Tree>>();
  for (const job of given) {
    const key = treeKeyOf(job);
    if (!hasOwnFiles(job) || readTree === undefined || trees.has(key) || missing.has(key)) continue;
    missing.set(key, readTree(job));
  }
  return missing;
}

/** The tree of a finished job is needed only if the job runs again. */
function neededTrees({ given, state, feed }: Beginning): Set<string> {
  const open = given.filter(({ id }) => {
    const tracked = state.jobs.get(id);
    return tracked !== undefined && outcomeAtHome(tracked) === undefined;
  });
  return new Set([...(feed === null ? [] : [treeKeyOf({})]), ...open.map(treeKeyOf)]);
}

function termsOf(
  order: BatchOrder,
  { batch, stem, jobs, feed }: Beginning,
): Omit<Terms, "kinds" | "jobEnv" | "trees"> {
  const { script, client, env, sending } = order;
  return {
    script,
    client,
    env,
    ...(sending && { sending }),
    batch,
    stem,
    settings: settingsOf(order),
    staysOpen: order.staysOpen === true,
    mostJobs: feed === null && !order.staysOpen ? jobs.size : Number.POSITIVE_INFINITY,
  };
}

function settingsOf({ settings, env }: BatchOrder): BatchSettings {
  const { requirement, timeoutSeconds, inPlace, copyForward, copyBack, copiesUnchanged } = settings;
  const { exclude, keepsDir, mergesOutput, maxOutput, maxOld, envFromFiles } = settings;
  const { placing, wrap, limitsMemory } = settings;
  const envNames = settings.envNames ?? Object.keys(env);
  return {
    requirement,
    timeoutSeconds,
    inPlace,
    copyForward,
    copyBack,
    copiesUnchanged,
    envNames,
    ...(envFromFiles && { envFromFiles }),
    ...(placing && { placing }),
    ...(exclude && { exclude }),
    ...(keepsDir && { keepsDir }),
    ...(mergesOutput && { mergesOutput }),
    ...(maxOutput && { maxOutput }),
    ...(wrap && { wrap }),
    ...(limitsMemory && { limitsMemory }),
    ...(maxOld !== undefined && { maxOld }),
  };
}
