// What every verb of a run knows.

import type { Fleet } from "../fleet/fleet.js";
import { parseAttemptKey } from "../model/attempt-key.js";
import type { BatchSettings } from "../model/batch.js";
import { type Job, type JobId, kindOf, type Requirement } from "../model/job.js";
import type { MachineSpec, Slot } from "../model/machine.js";
import type { Kinds } from "../plan/slots/kinds.js";
import type { Tree } from "../remote/tree/tree.js";
import type { Emit } from "./loop.js";
import type { MachineLink } from "./machine-link.js";
import type { OutputFiles } from "./output-files.js";
import type { Results } from "./results.js";

export interface RunContext {
  readonly batch: string;
  /** Who we are to other clients of the batch: user@computer:directory. */
  readonly client: string;
  readonly jobs: ReadonlyMap<JobId, Job>;
  /** That there will ever be; Infinity: who knows. */
  readonly mostJobs: number;
  readonly machines: readonly MachineSpec[];
  readonly script: string;
  readonly settings: BatchSettings;
  readonly requirement: Requirement;
  /** What its jobs need. */
  readonly kinds: Kinds;
  readonly env: Readonly<Record<string, string>>;
  /** Instead of `env`, of the jobs that have their own. */
  readonly jobEnv?: ReadonlyMap<JobId, Readonly<Record<string, string>>>;
  readonly timeoutSeconds: number | null;
  /** Where jobs run without a copy of the tree; null: in a copy each. */
  readonly inPlace: string | null;
  /** Being read while machines are connected to. */
  readonly tree: Promise<Tree>;
  /** Relative to a job's directory. */
  readonly copyBack: readonly string[];
  readonly copiesUnchanged: boolean;
  readonly results: Results;
  readonly outputs: OutputFiles;
  /** Names the attempt of a job that a machine has; the job's last one where it has none. */
  readonly keyOn: (machine: string, id: JobId) => string;
  /** Whether this attempt is the one that counts, and its results are not here yet. */
  readonly isUnderWay: (machine: string, id: JobId, attempt: number) => boolean;
  /** Whether others got the job meanwhile. */
  readonly isSuperseded: (machine: string, id: JobId, attempt: number) => boolean;
  /** Of machines that an earlier client gave jobs to. */
  readonly pastSlots: ReadonlyMap<string, readonly Slot[]>;
  /** The jobs that the machine was given, and that are not back. */
  readonly heldBy: (machine: string) => readonly JobId[];
  /** Emits, and returns once it is safe in the record. */
  readonly commit: Emit;
  /** Lends the connections. */
  readonly fleet: Fleet;
}

export function jobOf({ jobs }: RunContext, id: JobId): Job {
  const job = jobs.get(id);
  if (job === undefined) throw new Error(`no job ${id}`);
  return job;
}

export function keysOf({ keyOn }: RunContext, { spec }: MachineLink, jobs: readonly JobId[]): string[] {
  return jobs.map((id) => keyOn(spec.name, id));
}

export function jobsOf(keys: readonly string[]): JobId[] {
  return keys.map((key) => parseAttemptKey(key).job);
}

/** "line 7", "lines 7, 9 and 3 more". */
export function linesOfKind({ jobs }: RunContext, kind: string): string {
  const lines = [...jobs.values()]
    .filter(({ requirement }) => kindOf(requirement) === kind)
    .map(({ id, line }) => line ?? id);
  const [shown, more] = [lines.slice(0, 5).join(", "), lines.length - 5];
  return `${lines.length === 1 ? "line" : "lines"} ${shown}${more > 0 ? ` and ${more} more` : ""}`;
}
