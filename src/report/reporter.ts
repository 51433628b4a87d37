// What every way of showing a run has in common.

import type { BatchState } from "../model/batch-state.js";
import type { RunEvent } from "../model/event.js";
import type { Job } from "../model/job.js";
import type { KeysMode } from "./live/keys-mode.js";

/** What an event has led to. */
export interface Known {
  readonly state: BatchState;
  /** False for what was known before: after a lost link, machines report some things again. */
  readonly isNews: boolean;
}

export interface Reporter extends Suspendable {
  show(event: RunEvent, known: Known): void;
  /**
   * Says what is left to say and lets go of timers and listeners. Harmless when repeated. `isLeft`: the batch goes on, and
   * there is nothing to sum up yet.
   */
  close(isLeft?: boolean): void;
  /** Left out: nothing is drawn in place. */
  readonly live?: LiveView;
}

export interface LiveView {
  /** Null: no keys are read. */
  showKeys(mode: KeysMode | null): void;
  /** In the background only what is left standing is printed, below what other programs print. */
  hide(isHidden: boolean): void;
}

/** What draws on the terminal lets go of it while somebody is asked there. */
export interface Suspendable {
  suspend(): void;
  resume(): void;
}

export interface TextSink {
  write(text: string): unknown;
}

/** What a reporter asks about the batch beside its events. */
export interface Sources {
  /** In the order in which their limits are listed. */
  readonly machines: readonly string[];
  /** The variables that show a job the cards of its slot. */
  readonly devicesOf: (machine: string, slot: number) => Readonly<Record<string, string>>;
  /** The end of what a job that is over has printed; unsafe to show. */
  readonly lastWordsOf: (job: Job) => string;
  /** What to type when the run is over. */
  readonly nextCommands: (closing: Closing) => readonly string[];
}

/** How a run ended, as far as the next command depends on it. */
export interface Closing {
  /** Jobs that failed or are lost. */
  readonly failed: readonly Job[];
  readonly hasStopped: boolean;
  readonly isUnfinished: boolean;
  /** Any job of the batch; null: it has none. */
  readonly some: Job | null;
}
