// Places values along an axis, from 0 to 1. Pure.

import type { Cell } from "../model/result.js";
import { isNumber } from "../model/sweep.js";
import { formatNumber } from "../report/text/amounts.js";
import { compareCells } from "../results/compare-cells.js";

interface Tick {
  readonly at: number;
  readonly label: string;
}

export interface Scale {
  readonly ticks: readonly Tick[];
  /** The distance between neighbours that could be mistaken for each other; 0 if values may be anywhere. */
  readonly room: number;
  /** Null: it has no place. */
  readonly place: (cell: Cell) => number | null;
}

/** Up to this many values, each gets its own tick. */
const FEW = 7;
const WIDE_RANGE = 50;
const NEAREST = 0.07;
const LONG_TICK = 6;

/** `isMeasured`: a value that is no number (such as "nan") has no place, instead of turning all values into names. */
export function scaleFor(cells: readonly Cell[], isMeasured: boolean): Scale {
  const given = cells.filter((cell) => cell !== null);
  const numbers = given.map(toNumber).filter((number) => number !== null);
  return isMeasured || numbers.length === given.length ? numericScale(numbers) : categoricalScale(given);
}

export function toNumber(cell: Cell): number | null {
  if (typeof cell === "number") return cell;
  return cell !== null && isNumber(cell) ? Number(cell) : null;
}

function numericScale(numbers: readonly number[]): Scale {
  const distinct = [...new Set(numbers)].sort((a, b) => a - b);
  const [low = 0, high = 0] = [distinct[0], distinct.at(-1)];
  const isLog = isBetterByMagnitude(distinct);
  const along = (number: number) => {
    if (low === high) return 0.5;
    if (isLog) return (Math.log(number) - Math.log(low)) / (Math.log(high) - Math.log(low));
    // Halved first, because the difference of the largest numbers overflows.
    const whole = high / 2 - low / 2;
    return whole === 0 ? 0.5 : (number / 2 - low / 2) / whole;
  };
  const marked = distinct.length <= FEW ? distinct : isLog ? decades(low, high) : roundNumbers(low, high);
  return {
    ticks: spaced(marked.map((number) => ({ at: along(number), label: formatTick(number) }))),
    room: distinct.length > 1 && distinct.length <= FEW ? nearest(distinct.map(along)) : 0,
    place: (cell) => {
      const number = toNumber(cell);
      return number === null || !(number >= low && number <= high) ? null : along(number);
    },
  };
}

/** `1e-7` if that is shorter than zeros. */
function formatTick(number: number): string {
  const text = formatNumber(number);
  const short = Number(number.toPrecision(3)).toExponential();
  return text.length > LONG_TICK && short.length < text.length ? short : text;
}

/** By magnitude, small values do not all fall on one place, and few values such as 16, 32, 64 are spread evenly. */
function isBetterByMagnitude(sorted: readonly number[]): boolean {
  const [low = 0, high = 0] = [sorted[0], sorted.at(-1)];
  if (low <= 0 || low === high) return false;
  if (sorted.length > FEW) return high / low >= WIDE_RANGE;
  const logs = sorted.map(Math.log);
  return nearest(logs) > nearest(sorted);
}

/** The smallest distance of neighbours, as a part of the whole. */
function nearest(sorted: readonly number[]): number {
  const whole = (sorted.at(-1) ?? 0) - (sorted[0] ?? 0);
  const gaps = sorted.slice(1).map((value, index) => value - (sorted[index] ?? 0));
  return Math.min(...gaps) / whole;
}

/** Removes ticks that would overlap, or lie beyond the ends. */
function spaced(ticks: readonly Tick[]): Tick[] {
  const kept: Tick[] = [];
  for (const tick of ticks) {
    const isWithin = tick.at >= -1e-9 && tick.at <= 1 + 1e-9;
    if (isWithin && tick.at - (kept.at(-1)?.at ?? -1) >= NEAREST) kept.push(tick);
  }
  return kept;
}

function decades(low: number, high: number): number[] {
  const first = Math.ceil(Math.log10(low) - 1e-9);
  const last = Math.floor(Math.log10(high) + 1e-9);
  const step = Math.ceil((last - first + 1) / FEW);
  const found: number[] = [];
  for (let power = first; power <= last; power += step) found.push(Number(`1e${power}`));
  return found.filter((number) => number >= low && number <= high);
}

function roundNumbers(low: number, high: number): number[] {
  const step = roundStep(high / 5 - low / 5);
  const found: number[] = [];
  for (
    let count = Math.ceil(low / step - 1e-9);
    count * step <= high * (1 + 1e-12) + step * 1e-9;
    count += 1
  ) {
    found.push(Number((count * step).toPrecision(12)));
    if (found.length > 2 * FEW) break;
  }
  return found;
}

function roundStep(rough: number): number {
  const power = 10 ** Math.floor(Math.log10(rough));
  return ([1, 2, 5].find((times) => times * power >= rough) ?? 10) * power;
}

function categoricalScale(cells: readonly (string | number)[]): Scale {
  const distinct = [...new Set(cells.map(String))].sort((a, b) => compareCells(a, b, false));
  const places = new Map(distinct.map((name, index) => [name, (index + 0.5) / distinct.length]));
  return {
    ticks: spaced(distinct.map((name) => ({ at: places.get(name) ?? 0, label: name }))),
    room: 1 / distinct.length,
    place: (cell) => (cell === null ? null : (places.get(String(cell)) ?? null)),
  };
}

/** A fixed offset per job, different for neighbours, so that jobs with one value lie side by side. From -0.5 to 0.5. */
export function jitter(job: number | string): number {
  const number =
    typeof job === "number"
      ? job
      : [...job].reduce((sum, letter) => 31 * sum + letter.charCodeAt(0), 7) % 9973;
  return ((number * 0.618034) % 1) - 0.5;
}
