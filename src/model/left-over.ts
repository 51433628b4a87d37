// What batches left on a machine: their spools, and the trees their jobs began with.

export interface LeftOver {
  readonly batches: readonly LeftBatch[];
  readonly trees: readonly LeftTree[];
}

export interface LeftBatch {
  readonly name: string;
  readonly bytes: number;
  /** A slot, a job or a connected client is at work there. */
  readonly isAlive: boolean;
  readonly running: number;
  readonly waiting: number;
  /** Ended jobs, and those that went down with the machine: their results are nowhere else. */
  readonly toCollect: number;
  /** Jobs whose directories stay until they succeed, by name. */
  readonly kept: readonly string[];
}

export interface LeftTree {
  /** Its content's hash, or `incoming.<pid>` for one that did not arrive whole. */
  readonly name: string;
  readonly bytes: number;
  /** Since it was last staged; null: unknown. */
  readonly ageSeconds: number | null;
  /** Names of batches; null stands for one that cannot be judged from there. */
  readonly usedBy: readonly (string | null)[];
}
