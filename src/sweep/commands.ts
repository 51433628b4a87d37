// Makes the commands of a sweep, in the order in which they run.

import type { Combination, Sweep, Template } from "../model/sweep.js";
import { chooseCombinations } from "./combinations.js";
import { padValue } from "./pad-value.js";
import { jobSeed } from "./random.js";
import { shellWord } from "./shell-word.js";

/** `seed` and `samplingMode` are used if the sweep does not set them. */
export interface Defaults {
  readonly seed: number;
  readonly samplingMode: NonNullable<Sweep["samplingMode"]> | null;
  /** False: every value is inserted without quoting. */
  readonly quotes: boolean;
}

export interface SweepCommand {
  readonly command: string;
  readonly parameters: Readonly<Record<string, string>>;
}

export function formatCommands(sweep: Sweep, defaults: Defaults): SweepCommand[] {
  const seed = sweep.seed ?? defaults.seed;
  const samplingMode = sweep.samplingMode ?? defaults.samplingMode;
  return chooseCombinations({ ...sweep, seed, samplingMode }).map((combination, index) => {
    const number = index + 1;
    // A user's parameter may have the name of a built-in one, and takes precedence.
    const values = new Map([["i", `${number}`], ["seed", `${jobSeed(seed, number)}`], ...combination]);
    const command = fill(sweep.template, values, defaults.quotes);
    return { command, parameters: Object.fromEntries(combination) };
  });
}

function fill(template: Template, values: Combination, quotes: boolean): string {
  return template
    .map((piece) => {
      if (typeof piece === "string") return piece;
      const whole = values.get(piece.name) ?? "";
      const value = piece.padding === null ? whole : padValue(whole, piece.padding);
      return piece.isRaw || !quotes ? value : shellWord(value, piece);
    })
    .join("");
}
