// Why jobs never run: what they need is more than any machine has.

/** A kind of jobs that a machine can never run. */
export interface ShortKind {
  readonly kind: string;
  /** What is missing, and what would fit. */
  readonly reason: string;
}

export interface MachineReason {
  readonly machine: string;
  readonly reason: string;
}
