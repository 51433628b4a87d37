// One machine in a run, as far as the client knows.

import type { Incomplete } from "../model/event.js";
import type { Outcome } from "../model/job.js";
import type { DecisionKind } from "./decide.js";

export interface MachineState {
  readonly name: string;
  /** Its place among the machines, as they were named. */
  readonly order: number;
  phase: "new" | "connecting" | "ready" | "lost" | "finishing" | "done" | "failed";
  slots: number;
  /** Which kinds of jobs these slots are for. */
  kinds: ReadonlySet<string>;
  /** It may be given jobs. */
  isOpen: boolean;
  /** At least one job went there: there is a spool to clean. */
  hasSpool: boolean;
  /** Results stay there that could not be taken: nothing is cleaned. */
  hasStuck: boolean;
  /** When the link was lost last. */
  lostAt: number;
  /** It was away too long, and others have got its waiting jobs. */
  isGivenUp: boolean;
  /** When results were last brought home from there. */
  collectedAt: number;
  /** Verbs under way; one of each kind at a time. */
  readonly busy: Set<DecisionKind>;
  /** Of the queued lines: those not known to have arrived. */
  readonly assigned: Set<number>;
  /** Of those: lines whose hand-over was never begun by this client. */
  readonly unsent: Set<number>;
  readonly queued: Set<number>;
  readonly running: Set<number>;
  readonly ended: Set<number>;
  /** Keys of what is collected and may be removed over there. */
  readonly toFree: Set<string>;
  /** Collected lines whose outcome asks for another try. */
  readonly toRetry: Set<number>;
  /** By attempt key: collected results of which something stays there. Nothing is cleaned while there are any. */
  readonly rests: Map<string, Incomplete>;
  /** Of those: keys to ask for again. */
  readonly restsToTry: Set<string>;
  /** Running lines that were told to stop. */
  readonly stopped: Set<number>;
  /** Queued lines that could not be taken back: they had been begun, which the log will tell. */
  readonly kept: Set<number>;
  /** Line to attempt: given to others meanwhile, to be taken back here. */
  readonly orphans: Map<number, number>;
  /** Of those: had been begun here. */
  readonly begunOrphans: Map<number, number>;
  /** Orphans that ended here: their results are collected too. */
  readonly strays: Map<number, { readonly attempt: number; readonly outcome: Outcome }>;
}

export function newMachine(name: string, order: number): MachineState {
  return {
    name,
    order,
    phase: "new",
    slots: 0,
    kinds: new Set(),
    isOpen: true,
    hasSpool: false,
    hasStuck: false,
    lostAt: 0,
    isGivenUp: false,
    collectedAt: Number.NEGATIVE_INFINITY,
    busy: new Set(),
    assigned: new Set(),
    unsent: new Set(),
    queued: new Set(),
    running: new Set(),
    ended: new Set(),
    toFree: new Set(),
    toRetry: new Set(),
    rests: new Map(),
    restsToTry: new Set(),
    stopped: new Set(),
    kept: new Set(),
    orphans: new Map(),
    begunOrphans: new Map(),
    strays: new Map(),
  };
}
