// What every verb of a run knows.

import type { BatchSettings } from "../model/batch.js";
import { attemptKey, type Job, type Requirement } from "../model/job.js";
import type { MachineSpec, Slot } from "../model/machine.js";
import type { Tree } from "../remote/tree.js";
import type { Emit } from "./loop.js";
import type { Connect, MachineLink } from "./machine-link.js";
import type { OutputFiles } from "./output-files.js";
import type { Results } from "./results.js";

export interface RunContext {
  readonly batch: string;
  /** Who we are to other clients of the batch: user@computer:directory. */
  readonly client: string;
  readonly jobs: ReadonlyMap<number, Job>;
  readonly machines: readonly MachineSpec[];
  readonly script: string;
  readonly settings: BatchSettings;
  readonly requirement: Requirement;
  readonly env: Readonly<Record<string, string>>;
  readonly timeoutSeconds: number | null;
  /** Being read while machines are connected to. */
  readonly tree: Promise<Tree>;
  /** Relative to a job's directory. */
  readonly copyBack: readonly string[];
  readonly copiesUnchanged: boolean;
  readonly results: Results;
  readonly outputs: OutputFiles;
  /** Which attempt of a line a machine has; the line's last one where it has none. */
  readonly attemptOn: (machine: string, line: number) => number;
  /** Whether this attempt is the one that counts, and its results are not here yet. */
  readonly isUnderWay: (machine: string, line: number, attempt: number) => boolean;
  /** Whether others got the line meanwhile. */
  readonly isSuperseded: (machine: string, line: number, attempt: number) => boolean;
  /** Of machines that an earlier client gave jobs to. */
  readonly pastSlots: ReadonlyMap<string, readonly Slot[]>;
  /** Whether the machine was given jobs that are not back. */
  readonly isHolding: (machine: string) => boolean;
  /** Emits, and returns once it is safe in the record. */
  readonly commit: Emit;
  readonly connect: Connect;
}

export function jobOf({ jobs }: RunContext, line: number): Job {
  const job = jobs.get(line);
  if (job === undefined) throw new Error(`no job on line ${line}`);
  return job;
}

export function keysOf({ attemptOn }: RunContext, { spec }: MachineLink, lines: readonly number[]): string[] {
  return lines.map((line) => attemptKey(line, attemptOn(spec.name, line)));
}
