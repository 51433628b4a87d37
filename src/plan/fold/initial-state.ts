// The state at the start of a run.

import { type MachineState, newMachine, newTally, type TrackedJob } from "../../model/batch-state.js";
import { type Job, kindOf } from "../../model/job.js";
import { newLife } from "../../model/life.js";
import { newCrashes } from "../crashes.js";
import { newDependencies } from "../dependencies.js";
import { newHalting } from "../halt.js";
import type { Policy, RunState } from "../run-state.js";
import { newStock } from "../stock.js";
import { track } from "./attempts.js";

export interface Beginning {
  readonly jobs: readonly Job[];
  readonly machines: readonly string[];
  /** Machines that get no jobs: the run only collects what they have. */
  readonly closed?: readonly string[];
  /** Spool formats of machines whose spools an older version made. */
  readonly formats?: ReadonlyMap<string, number>;
  readonly policy: Policy;
  readonly isMoreToCome?: boolean;
}

export function initialState(beginning: Beginning): RunState {
  const { jobs, policy, closed = [], formats, isMoreToCome = false } = beginning;
  const machines = new Map(
    beginning.machines.map((name, order) => [name, newMachine(name, order, formats?.get(name))]),
  );
  for (const name of closed) (machines.get(name) as MachineState).isOpen = false;
  // Written out, because V8 optimizes a literal without a spread better: all states then have one shape.
  const state: RunState = {
    jobs: new Map(),
    machines,
    tally: newTally(),
    waiting: new Set(),
    held: new Set(),
    leftOut: new Map(),
    interrupted: "no",
    life: newLife(),
    policy,
    stock: newStock(machines.values()),
    kinds: new Map(),
    homeless: new Map(),
    keepsDirs: false,
    isFed: isMoreToCome,
    firstReadyAt: null,
    isMoreToCome,
    refused: 0,
    stopping: new Set(),
    isPaused: false,
    halting: newHalting(),
    crashes: newCrashes(),
    excused: new Set(),
    grown: new Map(),
    dependencies: newDependencies(),
  };
  for (const job of jobs) addJob(state, job);
  return state;
}

/** Does not change a job that exists already. */
export function addJob(state: RunState, job: Job): TrackedJob {
  const known = state.jobs.get(job.id);
  if (known !== undefined) return known;
  if (job.requirement !== undefined) state.kinds.set(job.id, kindOf(job.requirement));
  return track(state, job);
}
