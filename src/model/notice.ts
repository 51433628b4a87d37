// A command that is run on this computer when a batch ends, or when its first job fails.

import type { WordCounts } from "./batch-status.js";

export interface Notice {
  /** Run by sh. It may hold a secret, such as the address of a webhook. Empty: none is run. */
  readonly command: string;
  readonly on: "end" | "failure";
}

/** The facts that the command gets. */
export interface NoticeFacts {
  readonly on: Notice["on"];
  /** The identity of the batch. */
  readonly batch: string;
  /** What its jobs' names begin with. */
  readonly stem: string;
  readonly directory: string;
  readonly counts: WordCounts;
  /** How many of the waiting jobs no machine can ever run. */
  readonly leftOut: number;
  readonly elapsedMs: number;
  /** The names of the first jobs that failed or are lost. */
  readonly failedJobs: readonly string[];
}
