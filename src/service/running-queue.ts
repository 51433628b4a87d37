// A queue with its runner.

import type { QueueRunner } from "./queue-runner.js";

export interface RunningQueue {
  readonly runner: QueueRunner;
  /** Why nothing of the queue begins; null: nothing prevents it. */
  readonly obstacle: () => string | null;
}
