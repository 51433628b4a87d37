// What every way of showing a run has in common.

import type { BatchState } from "../model/batch-state.js";
import type { RunEvent } from "../model/event.js";

/** What an event has led to. */
export interface Known {
  readonly state: BatchState;
  /** False for what was known before: after a lost link, machines report some things again. */
  readonly isNews: boolean;
}

export interface Reporter extends Suspendable {
  show(event: RunEvent, known: Known): void;
  /** Says what is left to say and lets go of timers and listeners. Harmless when repeated. */
  close(): void;
}

/** What draws on the terminal lets go of it while somebody is asked there. */
export interface Suspendable {
  suspend(): void;
  resume(): void;
}

export interface TextSink {
  write(text: string): unknown;
}
