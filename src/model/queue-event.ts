// What happens in the queue service, for those who watch it.

import type { JobId } from "./job.js";

/** What watchers of the service hear. `seq` grows by at least 1. */
export interface QueueEvent {
  readonly seq: number;
  readonly at: number;
  readonly kind: QueueEventKind;
  readonly queue: string;
  /** Absent: it is about the queue. */
  readonly job?: JobId;
  /** What changed, as in QueueJob. */
  readonly data?: Readonly<Record<string, unknown>>;
}

export const QUEUE_EVENT_KINDS = [
  "job-added",
  "job-changed",
  "job-started",
  "job-ended",
  "job-skipped",
  "job-removed",
  "queue-created",
  "queue-paused",
  "queue-resumed",
  "queue-empty",
  "queue-deleted",
  "machine-ready",
  "machine-lost",
  "machine-back",
  "machine-failed",
  "machine-joined",
  "machine-left",
  "machine-draining",
  "machine-opened",
  "warning",
] as const;
type QueueEventKind = (typeof QUEUE_EVENT_KINDS)[number];
