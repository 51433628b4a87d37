// What the client does next: one verb on one machine.

import type { Attempt } from "./attempt.js";
import type { JobId } from "./job.js";
import type { Incomplete } from "./job-event.js";

export type Decision = Verb & { readonly machine: string };

type Verb =
  /** `resumes`: jobs of this batch may already be on the machine. */
  | { readonly kind: "connect"; readonly resumes: boolean }
  /** The connection was lost: try to reconnect until it succeeds. */
  | { readonly kind: "reconnect"; readonly resumes: boolean }
  /** `again`: the jobs that an earlier hand-over may have brought to the machine. */
  | {
      readonly kind: "hand-over";
      readonly jobs: readonly JobId[];
      readonly again?: readonly JobId[];
    }
  | { readonly kind: "collect"; readonly jobs: readonly JobId[] }
  /** Requests the missing parts of collected results again. */
  | { readonly kind: "collect-rest"; readonly rests: readonly Rest[] }
  | { readonly kind: "free"; readonly attempts: readonly Attempt[] }
  /** Moves the results of these jobs aside, to run the jobs again. */
  | { readonly kind: "retry"; readonly jobs: readonly JobId[] }
  | { readonly kind: "take-back"; readonly jobs: readonly JobId[] }
  | { readonly kind: "stop"; readonly jobs: readonly JobId[] }
  /** `keeps`: attempts whose directories stay. */
  | { readonly kind: "finish"; readonly cleans: boolean; readonly keeps?: readonly string[] };

/** `key`: the attempt's key on the machine. `isInPlace`: its results are the ones that count. */
export type Rest = Incomplete & { readonly key: string; readonly isInPlace: boolean };

export type DecisionKind = Decision["kind"];

/** A verb begins or ends, whether it succeeded or not. */
export interface VerbNews {
  readonly kind: "verb-begun" | "verb-ended";
  readonly decision: Decision;
  readonly at: number;
}

/** True for verbs that can be neither repeated nor undone: their cause must be on disk first. */
const RELIES_ON_RECORD: Readonly<Record<DecisionKind, boolean>> = {
  connect: false,
  reconnect: false,
  "hand-over": true,
  collect: false,
  "collect-rest": false,
  free: true,
  retry: true,
  "take-back": false,
  stop: false,
  finish: true,
};

export function reliesOnRecord({ kind }: Decision): boolean {
  return RELIES_ON_RECORD[kind];
}
