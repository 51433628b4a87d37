// The facts that verbs need from the state. Verbs do not read or change the state in any other way.

import { attemptKey, parseAttemptKey } from "../../model/attempt-key.js";
import type { Footprint } from "../../model/footprint.js";
import type { Job, JobId, Outcome, Requirement } from "../../model/job.js";
import { outcomeAtHome } from "../../model/standing.js";
import { asGrown, isToGrow } from "../../plan/grown.js";
import { heldBy } from "../../plan/holdings.js";
import { hasOnlyKept, keepsDir, keptOn, lastBegun, lastKept } from "../../plan/kept-dirs.js";
import { isUnderWay, keyOn, machineOf, type RunState } from "../../plan/run-state.js";

/** What earlier attempts of a job left. */
export interface LeftOfJob {
  readonly hasRun: boolean;
  /**
   * Keys of the attempts whose directories should be on the machine, oldest first; none if the last attempt ran
   * elsewhere.
   */
  readonly keys: readonly string[];
  /** The entry of job_results/ that was last collected; null if there is none. */
  readonly copy: string | null;
}

export interface OutgrownAttempt {
  readonly attempt: number;
  readonly machine: string;
  readonly outcome: Outcome;
  readonly footprint: Footprint | undefined;
  /** Undefined: the requirement of the batch. */
  readonly own: Requirement | undefined;
}

export class Known {
  readonly #state: RunState;
  readonly #jobs: ReadonlyMap<JobId, Job>;

  /** `jobs`: also includes jobs that arrive later. */
  constructor(state: RunState, jobs: ReadonlyMap<JobId, Job>) {
    this.#state = state;
    this.#jobs = jobs;
  }

  job(id: JobId): Job {
    const job = this.#jobs.get(id);
    if (job === undefined) throw new Error(`no job ${id}`);
    return asGrown(this.#state, job);
  }

  /** The job of an attempt. */
  jobOfKey(key: string): Job {
    return this.job(parseAttemptKey(key).job);
  }

  /** Keys of the jobs' attempts on a machine; a job's last attempt if the machine has none. */
  keys(machine: string, ids: readonly JobId[]): string[] {
    return ids.map((id) => keyOn(this.#state, machine, id));
  }

  /** True if this attempt is the one that counts, and its results are not collected yet. */
  isUnderWay(machine: string, id: JobId, attempt: number): boolean {
    return isUnderWay(this.#state, machine, id, attempt);
  }

  /** How the attempt ended by its machine's log, which says more than its exit code; null if the log was not read. */
  outcomeOf(machine: string, id: JobId, number: number): Outcome | null {
    const attempt = machineOf(this.#state, machine).attempts.get(id);
    return attempt?.number === number && "outcome" in attempt.stage ? attempt.stage.outcome : null;
  }

  /** True if another machine got the job in the meantime. */
  isSuperseded(machine: string, id: JobId, number: number): boolean {
    const attempt = machineOf(this.#state, machine).attempts.get(id);
    return attempt?.number === number && !attempt.isCurrent;
  }

  /** Keys of the attempts that the machine was given and that were not collected or taken back. */
  heldBy(machine: string): string[] {
    return this.keys(machine, heldBy(machineOf(this.#state, machine)));
  }

  /** What the machine reported at its end; absent: unknown. */
  footprintOf(machine: string, id: JobId, number: number): Footprint | undefined {
    const attempt = this.#state.machines.get(machine)?.attempts.get(id);
    return attempt?.number === number && "footprint" in attempt.stage ? attempt.stage.footprint : undefined;
  }

  /** An attempt that ran out of memory and is to run once more, with what its job needed; null: it is none. */
  outgrown(id: JobId): OutgrownAttempt | null {
    const tracked = this.#state.jobs.get(id);
    if (tracked?.fate.kind !== "tried" || tracked.fate.stage.kind !== "collected") return null;
    const { number, machine, stage } = tracked.fate;
    const { outcome, footprint } = stage;
    if (!isToGrow(this.#state, tracked, outcome)) return null;
    return { attempt: number, machine, outcome, footprint, own: tracked.job.requirement };
  }

  /** True if the retry is due to a larger need. */
  hasJustGrown(id: JobId): boolean {
    return this.#state.excused.has(id) && Boolean(this.#state.grown.get(id)?.requirement);
  }

  mayGetJobs(machine: string): boolean {
    const { isOpen, phase } = machineOf(this.#state, machine);
    return isOpen && phase !== "failed" && phase !== "done";
  }

  isSetAside(machine: string): boolean {
    return machineOf(this.#state, machine).isSetAside;
  }

  /** True if the machine has something of the batch; false for an unknown machine. */
  hasSpool(machine: string): boolean {
    return this.#state.machines.get(machine)?.hasSpool ?? false;
  }

  /** True if only kept directories are left of the batch on the machine. */
  hasOnlyKept(machine: string): boolean {
    return hasOnlyKept(machineOf(this.#state, machine));
  }

  /** Null if the directory of this job is not kept. */
  leftOf(machine: string, id: JobId): LeftOfJob | null {
    const tracked = this.#state.jobs.get(id);
    if (tracked === undefined || !keepsDir(this.#state, tracked)) return null;
    const isHere = lastKept(tracked)?.machine === machine;
    return {
      hasRun: lastBegun(tracked) !== null,
      keys: isHere ? keptOn(tracked, machine).map(attemptKey) : [],
      copy: tracked.traits.copy,
    };
  }

  /** Whether a name in job_results/ is that of results to come, or of what a next attempt begins with. */
  isNeeded(name: string): boolean {
    for (const tracked of this.#state.jobs.values()) {
      if (tracked.traits.copy === name) return true;
      if (tracked.job.name === name && outcomeAtHome(tracked) === undefined) return true;
    }
    return false;
  }
}

export function jobsOf(keys: readonly string[]): JobId[] {
  return keys.map((key) => parseAttemptKey(key).job);
}
