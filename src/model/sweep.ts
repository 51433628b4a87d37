// A sweep: a command with placeholders for parameters, and the values of the parameters.

export interface Sweep {
  readonly template: Template;
  /** In the order in which they vary; the last one varies fastest. */
  readonly axes: readonly Axis[];
  /** A combination is skipped unless all of these hold. */
  readonly when: readonly Rule[];
  /** A combination is skipped if any of these holds. */
  readonly reject: readonly Rule[];
  /** Null: every combination. */
  readonly samples: number | null;
  readonly seed: number | null;
  readonly samplingMode: SamplingMode | null;
}

export type SamplingMode = "grid" | "shuffled_grid";

export const SAMPLING_MODES: readonly SamplingMode[] = ["grid", "shuffled_grid"];

/** An independent part of the sweep: rows of values for one or more parameters, or a parameter drawn at random. */
export type Axis =
  | {
      readonly kind: "rows";
      readonly names: readonly string[];
      /** One value per name, as typed. */
      readonly rows: readonly (readonly string[])[];
    }
  | { readonly kind: "random"; readonly name: string; readonly distribution: Distribution };

/** Both ends are included. */
export type Distribution =
  | { readonly kind: "uniform" | "log" | "int"; readonly low: number; readonly high: number }
  | { readonly kind: "normal"; readonly mean: number; readonly deviation: number };

/** One value per parameter, as text. */
export type Combination = ReadonlyMap<string, string>;

/** Fixed text and placeholders. */
export type Template = readonly (string | Placeholder)[];

export interface Placeholder {
  readonly name: string;
  /** The value is inserted without quoting. */
  readonly isRaw: boolean;
  /** Null: the value is not padded. */
  readonly padding: Padding | null;
  /** The shell quoting around the placeholder; `opaque`: quoting the value would not work. */
  readonly within: "nothing" | "double quotes" | "single quotes" | "opaque";
  /** Between bash's own braces, where a comma would separate words. */
  readonly isInBraces: boolean;
}

export interface Padding {
  readonly fill: string;
  /** Alignment of the value within the width. */
  readonly align: "<" | ">" | "^";
  readonly width: number;
  /** The most letters of the value; null: all. */
  readonly most: number | null;
}

/** Parameters that every command has: its number, from 1, and a random number of its own. */
export const GIVEN_NAMES = ["i", "seed"];

export interface Rule {
  /** As it was written, and its place in the file. */
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

/** Numbers as people write them. "", "0x10" and "Infinity" do not count. */
export function isNumber(text: string): boolean {
  return /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i.test(text) && Number.isFinite(Number(text));
}
