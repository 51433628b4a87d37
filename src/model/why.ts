// Why a job waits, machine by machine, as measured a moment ago.

import type { DependencyFact } from "./dependency.js";
import type { Job, Outcome, Requirement } from "./job.js";
import type { Capacity } from "./machine.js";
import type { Shortage } from "./shortage.js";
import type { JobWord } from "./standing.js";

export interface WhyBatch {
  readonly batch: string;
  /** What its jobs' names begin with. */
  readonly stem: string;
  /** Why nothing of it starts, whatever room there is; null: nothing prevents it. */
  readonly hold: Hold | null;
  readonly jobs: readonly WhyJob[];
  /** Groups of waiting jobs that are left out. */
  readonly more: number;
}

export type Hold =
  /** The client that follows it is paused; `pid` is that client. */
  | { readonly kind: "paused"; readonly pid: number }
  /** The jobs are not on any machine, and no client hands them over. `command` resumes the batch. */
  | { readonly kind: "no-client"; readonly command: string };

export type WhyJob = {
  readonly job: Job;
  readonly state: JobWord;
} & (
  | ({
      readonly kind: "waits";
      /** How many further jobs wait for the same reasons. */
      readonly others: number;
      readonly requirement: Requirement;
    } & WhyWaiting)
  | {
      /** It waits for another job, or is skipped because of it. */
      readonly kind: "after";
      readonly others: number;
      readonly dependency: DependencyFact;
    }
  | {
      readonly kind: "runs";
      readonly machine: string;
      readonly cards: readonly number[];
      readonly elapsedMs: number | null;
    }
  | {
      readonly kind: "ended";
      readonly machine: string | null;
      readonly elapsedMs: number | null;
      readonly outcome: Outcome | null;
      /** The end of its output; unsafe to show. */
      readonly lastWords: string;
    }
);

export interface WhyWaiting {
  readonly machines: readonly WhyMachine[];
  /** The job whose end makes room first, as far as that can be computed. */
  readonly next: NextEnd | null;
  readonly change: Change | null;
}

export type WhyMachine = { readonly machine: string } & (
  | { readonly kind: "unreachable"; readonly reason: string; readonly sinceMs: number | null }
  | { readonly kind: "drained" }
  /** There is room: the job starts within seconds. */
  | { readonly kind: "starts" }
  | {
      readonly kind: "waits";
      readonly shortages: readonly Shortage[];
      readonly capacity: Capacity;
      /** The machine file; null: there is none. */
      readonly file: string | null;
      /** Also the empty machine has no room for the job: the shortages are those of the empty machine. */
      readonly isNever: boolean;
    }
);

export interface NextEnd {
  readonly machine: string;
  /** The label of the job that ends. */
  readonly job: string;
  readonly cards: readonly number[];
  readonly inMs: number;
}

/** One number of the need that decides, and how much the job could have. */
export interface Change {
  readonly what: "card memory" | "memory" | "cores" | "cards" | "resource";
  /** Of a resource. */
  readonly name?: string;
  /** In MB for memory. */
  readonly amount: number;
  readonly machine: string;
  /** False: it would fit on the empty machine. */
  readonly isNow: boolean;
}
