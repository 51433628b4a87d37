// Why a job does not start on a machine, or why the machine has no further slot: which limit is reached, and by how much.

import type { ListedCard } from "./job.js";

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
  | {
      readonly kind: "resource";
      readonly name: string;
      readonly needed: number;
      readonly free: number;
      /** The machine has no such resource, whatever is free. Absent: it has, or the machine itself reports it. */
      readonly isDeclared?: false;
    }
  /** `claimed` of the `maxJobs` slots belong to other batches. */
  | { readonly kind: "max-jobs"; readonly maxJobs: number; readonly claimed: number }
  /** Another job has reserved the whole machine. `owner`, here and below: its account; "": this account. */
  | { readonly kind: "machine-claimed"; readonly owner: string; readonly batch: string }
  /** The job needs the whole machine, and another one uses a part of it. */
  | { readonly kind: "machine-in-use"; readonly owner: string; readonly batch: string }
  /** One of these two: the machine itself does not report which. */
  | { readonly kind: "machine-held"; readonly owner: string; readonly batch: string }
  /** The only slot has the whole machine. */
  | { readonly kind: "machine-reserved" }
  /** The job would fit, but an earlier one waits for the same. `key`: that job. */
  | { readonly kind: "kept"; readonly key: string }
  /** The machine could not find out what is free, could not write a claim, or its disk is full. */
  | { readonly kind: "hindered"; readonly by: "answer" | "claim" | "disk" }
  /** The most slots on one machine, however little a job needs. */
  | { readonly kind: "too-many"; readonly limit: number };

export interface RefusedCard {
  readonly gpu: { readonly index: number };
  readonly why: CardRefusal;
}

export type CardRefusal =
  /** `reason` is empty if the machine itself reports it. */
  | { readonly kind: "unusable"; readonly reason: string }
  | { readonly kind: "not-allowed" }
  | { readonly kind: "kept-free" }
  | { readonly kind: "memory-unknown" }
  | {
      readonly kind: "memory";
      readonly neededMb: number;
      readonly freeMb: number;
      /** Null: unknown. */
      readonly totalMb: number | null;
    }
  /** Shares of the card's computing; their sum may be at most 1.2. */
  | { readonly kind: "utilization"; readonly needed: number; readonly used: number }
  /** Parts of the card; their sum may be at most 1. */
  | { readonly kind: "amount"; readonly needed: number; readonly free: number }
  /** Jobs have the card: that of `batch`, or of this batch if `batch` is null. */
  | {
      readonly kind: "taken";
      readonly owner?: string;
      readonly batch: string | null;
      readonly job?: string;
    }
  /** At most one process may hold the card, and a process seems to hold it. */
  | { readonly kind: "exclusive-in-use" }
  /** A process of another person is on the card, and the batch is polite. */
  | { readonly kind: "other-person" }
  /** As many jobs of this batch use the card as it is listed for. */
  | { readonly kind: "all-listed" }
  /** A program sees at most one MIG slice, and the job needs several cards. */
  | { readonly kind: "slice" };
