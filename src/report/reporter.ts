// What every way of showing a run has in common.

import type { RunEvent } from "../model/event.js";

export interface Reporter extends Suspendable {
  show(event: RunEvent): void;
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
