// Why a machine has no further slot: which limit is reached, and by how much.

import type { ListedCard } from "../../model/job.js";
import type { Gpu } from "../../model/machine.js";

export type Shortage =
  /** `freeMb` and `free` are what is left after the parts for people, other batches and this batch are subtracted. */
  | { readonly kind: "memory"; readonly neededMb: number; readonly freeMb: number }
  | { readonly kind: "memory-unknown" }
  | { readonly kind: "cpus"; readonly needed: number; readonly free: number }
  | { readonly kind: "cpus-unknown" }
  | {
      readonly kind: "gpus";
      readonly needed: number;
      /** How many cards are suitable. */
      readonly available: number;
      readonly refused: readonly RefusedCard[];
    }
  /** Some listed cards do not exist. */
  | {
      readonly kind: "no-such-gpu";
      readonly absent: readonly ListedCard[];
      readonly there: readonly ListedCard[];
    }
  /** Every listed card already has its slot. */
  | { readonly kind: "all-listed"; readonly count: number }
  /** `claimed` of the `maxJobs` slots belong to other batches. */
  | { readonly kind: "max-jobs"; readonly maxJobs: number; readonly claimed: number }
  /** Another batch has reserved the whole machine. */
  | { readonly kind: "machine-claimed"; readonly batch: string }
  /** The job needs the whole machine, and another batch uses a part of it. */
  | { readonly kind: "machine-in-use"; readonly batch: string }
  /** The only slot has the whole machine. */
  | { readonly kind: "machine-reserved" }
  /** The most slots on one machine, however little a job needs. */
  | { readonly kind: "too-many"; readonly limit: number };

export interface RefusedCard {
  readonly gpu: Gpu;
  readonly why: CardRefusal;
}

export type CardRefusal =
  | { readonly kind: "unusable"; readonly reason: string }
  | { readonly kind: "not-allowed" }
  | { readonly kind: "kept-free" }
  | { readonly kind: "memory-unknown" }
  | { readonly kind: "memory"; readonly neededMb: number; readonly freeMb: number }
  /** Shares of the card's computing; their sum may be at most 1.2. */
  | { readonly kind: "utilization"; readonly needed: number; readonly used: number }
  /** One job has the card: a job of `batch`, or of this batch if `batch` is null. */
  | { readonly kind: "taken"; readonly batch: string | null }
  /** At most one process may hold the card, and a process seems to hold it. */
  | { readonly kind: "exclusive-in-use" }
  /** A program sees at most one MIG slice, and the job needs several cards. */
  | { readonly kind: "slice" };
