// The interface that all reporters share.

import type { BatchState } from "../model/batch-state.js";
import type { JobStarted, RunEvent } from "../model/event.js";
import type { Job } from "../model/job.js";
import type { KeysMode } from "./live/keys-mode.js";

/** The result of an event. */
export interface Known {
  readonly state: BatchState;
  /** False if it changed nothing: after a lost connection, machines report some events again. */
  readonly isNews: boolean;
}

export interface Reporter extends Suspendable {
  show(event: RunEvent, known: Known): void;
  /**
   * Prints the rest and releases timers and listeners. May be called again. `isLeft`: the batch continues, and there is
   * no summary yet.
   */
  close(isLeft?: boolean): void;
  /** Absent: nothing is drawn in place. */
  readonly live?: LiveView;
}

export interface LiveView {
  /** Null: no keys are read. */
  showKeys(mode: KeysMode | null): void;
  /** In the background only lasting lines are printed, below the output of other programs. */
  hide(isHidden: boolean): void;
}

/** A reporter that draws on the terminal releases it while a person is asked a question there. */
export interface Suspendable {
  suspend(): void;
  resume(): void;
}

export interface TextSink {
  write(text: string): unknown;
}

/** Facts that a reporter needs besides the events. */
export interface Sources {
  /** In the order in which their limits are listed. */
  readonly machines: readonly string[];
  /** The variables that show a job the cards of its slot. */
  readonly devicesOf: (started: JobStarted) => Readonly<Record<string, string>>;
  /** The end of an ended job's output; not safe to print yet. */
  readonly lastWordsOf: (job: Job) => string;
  /** The commands to type when the run is over. */
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
