// What the client does next: one verb on one machine.

export type Decision = Verb & { readonly machine: string };

type Verb =
  /** `resumes`: jobs of this batch may be there already. */
  | { readonly kind: "connect"; readonly resumes: boolean }
  /** The link was lost: get it back, for as long as it takes. */
  | { readonly kind: "reconnect"; readonly resumes: boolean }
  | { readonly kind: "hand-over"; readonly lines: readonly number[] }
  | { readonly kind: "collect"; readonly lines: readonly number[] }
  | { readonly kind: "free"; readonly keys: readonly string[] }
  /** Moves the results of these aside, to run them again. */
  | { readonly kind: "retry"; readonly lines: readonly number[] }
  | { readonly kind: "take-back"; readonly lines: readonly number[] }
  | { readonly kind: "stop"; readonly lines: readonly number[] }
  | { readonly kind: "finish"; readonly cleans: boolean };

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
