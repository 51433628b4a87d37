// Chooses the combinations of values of a sweep: all of them, or a number of different ones.

import { UserError } from "../errors.js";
import type { Axis, Combination, Sweep } from "../model/sweep.js";
import { draw } from "./draw.js";
import { below, type Random, seededRandom, shuffle } from "./random.js";
import { isWanted } from "./rules.js";

/** Fits into memory easily, and is more than any sweep needs. */
const MOST = 1_000_000;
/** Draws in a row without a new combination. */
const MOST_FAILED_DRAWS = 20_000;

type SeededSweep = Omit<Sweep, "seed"> & { readonly seed: number };

export function chooseCombinations(sweep: SeededSweep): Combination[] {
  const { axes, samples } = sweep;
  const size = axes.reduce((product, axis) => product * sizeOf(axis), 1);
  const isShuffled = decideShuffling(sweep);
  if (size <= MOST) return chooseFromAll(sweep, size, isShuffled);
  if (samples === null) throw tooMany(size);
  return isShuffled ? drawDistinct(sweep, samples) : takeFirst(sweep, samples);
}

function sizeOf(axis: Axis): number {
  if (axis.kind === "rows") return axis.rows.length;
  const { distribution } = axis;
  return distribution.kind === "int" ? distribution.high - distribution.low + 1 : Number.POSITIVE_INFINITY;
}

/** Samples are drawn at random unless the grid's order was requested. */
function decideShuffling({ axes, samples, samplingMode }: SeededSweep): boolean {
  const random = axes.find((axis) => axis.kind === "random");
  if (random === undefined) return (samplingMode ?? (samples === null ? "grid" : "shuffled_grid")) !== "grid";
  if (samples === null) {
    throw new UserError(`${random.name} is drawn at random: how many samples?`, {
      hint: "--n-samples 20, or n_samples: 20 in a sweep file",
    });
  }
  if (samplingMode === "grid") {
    throw new UserError(`${random.name} is drawn at random and has no place in a grid`, {
      hint: `leave the sampling mode out, or give ${random.name} a list of values`,
    });
  }
  return true;
}

/** Works with indices, because a million of them use little memory and a million combinations use much. */
function chooseFromAll(sweep: SeededSweep, size: number, isShuffled: boolean): Combination[] {
  const wanted: number[] = [];
  for (let number = 0; number < size; number += 1) {
    if (isWanted(sweep, combinationAt(sweep.axes, number))) wanted.push(number);
  }
  if (wanted.length === 0) throw noneLeft(size);
  const samples = sweep.samples ?? wanted.length;
  if (samples > wanted.length) throw tooFew(samples, wanted.length, wanted.length < size);
  if (isShuffled) shuffle(wanted, seededRandom(sweep.seed));
  return wanted.slice(0, samples).map((number) => combinationAt(sweep.axes, number));
}

/** The combination with this number; the last axis varies fastest. */
function combinationAt(axes: readonly Axis[], number: number): Combination {
  let rest = number;
  const entries: [string, string][][] = [];
  for (const axis of axes.toReversed()) {
    const size = sizeOf(axis);
    entries.push(entriesAt(axis, rest % size));
    rest = Math.floor(rest / size);
  }
  return new Map(entries.reverse().flat());
}

function entriesAt(axis: Axis, index: number): [string, string][] {
  if (axis.kind === "rows") return axis.names.map((name, column) => [name, axis.rows[index]?.[column] ?? ""]);
  const { distribution } = axis;
  return [[axis.name, distribution.kind === "int" ? String(distribution.low + index) : ""]];
}

function takeFirst(sweep: SeededSweep, samples: number): Combination[] {
  const found: Combination[] = [];
  for (let number = 0; found.length < samples; number += 1) {
    if (number === MOST) throw hardToFind(found.length, samples, MOST);
    const combination = combinationAt(sweep.axes, number);
    if (isWanted(sweep, combination)) found.push(combination);
  }
  return found;
}

function drawDistinct(sweep: SeededSweep, samples: number): Combination[] {
  const random = seededRandom(sweep.seed);
  const found = new Map<string, Combination>();
  for (let failed = 0; found.size < samples; ) {
    if (failed === MOST_FAILED_DRAWS) throw hardToFind(found.size, samples, MOST_FAILED_DRAWS);
    const combination: Combination = new Map(sweep.axes.flatMap((axis) => drawEntries(axis, random)));
    const key = [...combination.values()].join("\0");
    failed += 1;
    if (found.has(key) || !isWanted(sweep, combination)) continue;
    found.set(key, combination);
    failed = 0;
  }
  return [...found.values()];
}

function drawEntries(axis: Axis, random: Random): [string, string][] {
  if (axis.kind === "random") return [[axis.name, draw(axis.distribution, random)]];
  return entriesAt(axis, below(random, axis.rows.length));
}

function tooMany(size: number): UserError {
  return new UserError(
    `there are ${Number.isSafeInteger(size) ? size : "too many"} combinations, more than ${MOST}`,
    {
      hint: "--n-samples 100 takes some of them",
    },
  );
}

function tooFew(samples: number, count: number, hasRejected: boolean): UserError {
  const left = hasRejected ? " that the rules allow" : "";
  const are = count === 1 ? "is 1 combination" : `are ${count} combinations`;
  return new UserError(`${samples} samples were asked for, but there ${are}${left}`, {
    hint: `--n-samples ${count}, or more values`,
  });
}

function noneLeft(size: number): UserError {
  const all = size === 1 ? "the only combination" : `all ${size} combinations`;
  return new UserError(`the rules leave out ${all}`, { hint: "look at when: and reject: again" });
}

function hardToFind(found: number, samples: number, tries: number): UserError {
  return new UserError(
    `${samples} samples were asked for, but after ${found} of them ${tries} tries brought no other that is new and allowed`,
    { hint: "ask for fewer, widen the ranges, or look at the rules again" },
  );
}
