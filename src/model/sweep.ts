// A sweep: one command with places for parameters, and the values these take.

export interface Sweep {
  readonly template: Template;
  /** In the order in which they vary: the last one fastest. */
  readonly axes: readonly Axis[];
  /** A combination is left out unless all of these hold. */
  readonly when: readonly Rule[];
  /** A combination is left out if any of these holds. */
  readonly reject: readonly Rule[];
  /** Null: every combination. */
  readonly samples: number | null;
  readonly seed: number | null;
  readonly samplingMode: SamplingMode | null;
}

export type SamplingMode = "grid" | "shuffled_grid";

export const SAMPLING_MODES: readonly SamplingMode[] = ["grid", "shuffled_grid"];

/** What varies on its own: rows of values for one or more parameters, or one that is drawn at random. */
export type Axis =
  | {
      readonly kind: "rows";
      readonly names: readonly string[];
      /** One value for each name, as it was typed. */
      readonly rows: readonly (readonly string[])[];
    }
  | { readonly kind: "random"; readonly name: string; readonly distribution: Distribution };

/** Both ends belong to it. */
export type Distribution =
  | { readonly kind: "uniform" | "log" | "int"; readonly low: number; readonly high: number }
  | { readonly kind: "normal"; readonly mean: number; readonly deviation: number };

/** A value for each parameter, as text. */
export type Combination = ReadonlyMap<string, string>;

/** Text that stays as it is, and places for values. */
export type Template = readonly (string | Placeholder)[];

export interface Placeholder {
  readonly name: string;
  /** The value is pasted as it is. */
  readonly isRaw: boolean;
  /** Null: the value has the length it has. */
  readonly padding: Padding | null;
  /** What the shell makes of text there; `opaque`: where no quoting of ours would hold. */
  readonly within: "nothing" | "double quotes" | "single quotes" | "opaque";
  /** Between bash's own braces, where a comma would part words. */
  readonly isInBraces: boolean;
}

export interface Padding {
  readonly fill: string;
  /** Where the value stands in its width. */
  readonly align: "<" | ">" | "^";
  readonly width: number;
  /** So many letters of it at most; null: all. */
  readonly most: number | null;
}

/** What every command has without being given: its number, from 1, and a random number of its own. */
export const GIVEN_NAMES = ["i", "seed"];

export interface Rule {
  /** As it was written, and where. */
  readonly text: string;
  readonly where: string;
  readonly condition: Condition;
}

export type Condition =
  | { readonly kind: "and" | "or"; readonly parts: readonly Condition[] }
  | { readonly kind: "not"; readonly part: Condition }
  | {
      readonly kind: "compare";
      readonly operator: Operator;
      readonly left: Operand;
      readonly right: Operand;
    };

export type Operator = "==" | "!=" | "<" | "<=" | ">" | ">=";

export type Operand =
  | { readonly kind: "name"; readonly name: string }
  | { readonly kind: "number"; readonly text: string }
  | { readonly kind: "text"; readonly text: string };

/** Numbers as people write them; nothing else counts as one, such as "", "0x10" or "Infinity". */
export function isNumber(text: string): boolean {
  return /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i.test(text) && Number.isFinite(Number(text));
}
