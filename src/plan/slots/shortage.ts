// Why there is not one more slot on a machine: which limit is short, and by how much.

import type { ListedCard } from "../../model/job.js";
import type { Gpu } from "../../model/machine.js";

export type Shortage =
  /** `freeMb` and `free` are what is left after what people keep, other batches claim and this one already has. */
  | { readonly kind: "memory"; readonly neededMb: number; readonly freeMb: number }
  | { readonly kind: "memory-unknown" }
  | { readonly kind: "cpus"; readonly needed: number; readonly free: number }
  | { readonly kind: "cpus-unknown" }
  | {
      readonly kind: "gpus";
      readonly needed: number;
      /** How many cards would do. */
      readonly available: number;
      readonly refused: readonly RefusedCard[];
    }
  /** Cards were listed that are not there. */
  | {
      readonly kind: "no-such-gpu";
      readonly absent: readonly ListedCard[];
      readonly there: readonly ListedCard[];
    }
  /** There is a slot for each card that was listed. */
  | { readonly kind: "all-listed"; readonly count: number }
  /** `claimed` of the `maxJobs` are slots of other batches. */
  | { readonly kind: "max-jobs"; readonly maxJobs: number; readonly claimed: number }
  /** Another batch has all of the machine. */
  | { readonly kind: "machine-claimed"; readonly batch: string }
  /** The job wants all of the machine, and another batch has some of it. */
  | { readonly kind: "machine-in-use"; readonly batch: string }
  /** The one slot there is has all of the machine. */
  | { readonly kind: "machine-reserved" }
  /** No more slots than this on one machine, however little a job needs. */
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
  /** Shares of the card's computing; the sum may be up to 1.2. */
  | { readonly kind: "utilization"; readonly needed: number; readonly used: number }
  /** One job has it: of `batch`, or of this batch when that is null. */
  | { readonly kind: "taken"; readonly batch: string | null }
  /** At most one process may hold it, and somebody seems to. */
  | { readonly kind: "exclusive-in-use" }
  /** A program sees one MIG slice at most, and the job wants several cards. */
  | { readonly kind: "slice" };
