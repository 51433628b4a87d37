// What the client does next: one verb on one machine.

import type { Incomplete } from "./event.js";

export type Decision = Verb & { readonly machine: string };

type Verb =
  /** `resumes`: jobs of this batch may be there already. */
  | { readonly kind: "connect"; readonly resumes: boolean }
  /** The link was lost: get it back, for as long as it takes. */
  | { readonly kind: "reconnect"; readonly resumes: boolean }
  /** `again`: of the lines, those that may be there from an earlier hand-over. */
  | {
      readonly kind: "hand-over";
      readonly lines: readonly number[];
      readonly again?: readonly number[];
    }
  | { readonly kind: "collect"; readonly lines: readonly number[] }
  /** Asks again for what was missing of results that are in place. */
  | { readonly kind: "collect-rest"; readonly rests: readonly Rest[] }
  | { readonly kind: "free"; readonly keys: readonly string[] }
  /** Moves the results of these aside, to run them again. */
  | { readonly kind: "retry"; readonly lines: readonly number[] }
  | { readonly kind: "take-back"; readonly lines: readonly number[] }
  | { readonly kind: "stop"; readonly lines: readonly number[] }
  | { readonly kind: "finish"; readonly cleans: boolean };

/** `isInPlace`: the results of this attempt are those that count. */
export type Rest = Incomplete & { readonly isInPlace: boolean };

export type DecisionKind = Decision["kind"];

/** A verb begins, or ends, however it went. */
export interface VerbNews {
  readonly kind: "verb-begun" | "verb-ended";
  readonly decision: Decision;
  readonly at: number;
}

/** True for verbs that can be neither repeated nor undone: their cause must be on disk first. */
export function reliesOnRecord({ kind }: Decision): boolean {
  return kind === "hand-over" || kind === "free" || kind === "retry" || kind === "finish";
}
