// What batches left on a machine: spools, and the trees that their jobs started from.

export interface LeftOver {
  readonly batches: readonly LeftBatch[];
  readonly trees: readonly LeftTree[];
}

export interface LeftBatch {
  readonly name: string;
  readonly bytes: number;
  /** A slot, a job or a connected client is active in it. */
  readonly isAlive: boolean;
  readonly running: number;
  readonly waiting: number;
  /** Ended jobs, and jobs that were lost with the machine. Their results exist nowhere else. */
  readonly toCollect: number;
  /** Jobs whose directories stay until they succeed, by name. */
  readonly kept: readonly string[];
}

export interface LeftTree {
  /** The hash of its content, or `incoming.<pid>` if it did not arrive completely. */
  readonly name: string;
  readonly bytes: number;
  /** Seconds since it was last staged; null: unknown. */
  readonly ageSeconds: number | null;
  /** Names of batches; null stands for a batch that this machine cannot examine. */
  readonly usedBy: readonly (string | null)[];
}
