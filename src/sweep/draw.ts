// Draws one value of a distribution, as a short text that reads back as exactly the same number.

import type { Distribution } from "../model/sweep.js";
import { below, fraction, type Random } from "./random.js";

export function draw(distribution: Distribution, random: Random): string {
  switch (distribution.kind) {
    case "int": {
      const { low, high } = distribution;
      return String(low + below(random, high - low + 1));
    }
    case "uniform": {
      const { low, high } = distribution;
      return shorten(low + fraction(random) * (high - low), low, high);
    }
    case "log": {
      const { low, high } = distribution;
      const exponent = Math.log(low) + fraction(random) * (Math.log(high) - Math.log(low));
      return shorten(Math.exp(exponent), low, high);
    }
    case "normal": {
      const { mean, deviation } = distribution;
      const drawn = mean + deviation * standardNormal(random);
      return format(drawn, digitsFor(Math.abs(mean), deviation));
    }
    default:
      return distribution satisfies never;
  }
}

/** Box–Muller; the second number is not used. */
function standardNormal(random: Random): number {
  const radius = Math.sqrt(-2 * Math.log(1 - fraction(random)));
  return radius * Math.cos(2 * Math.PI * fraction(random));
}

/** Rounding must not leave the range. */
function shorten(drawn: number, low: number, high: number): string {
  const digits = digitsFor(Math.max(Math.abs(low), Math.abs(high)), high - low);
  const rounded = Number(drawn.toPrecision(digits));
  return String(Math.min(high, Math.max(low, rounded)));
}

function format(drawn: number, digits: number): string {
  return String(Number(drawn.toPrecision(digits)));
}

/** Six digits, and more if a narrow range far from zero needs them to distinguish its values. */
function digitsFor(size: number, width: number): number {
  return Math.min(17, 6 + Math.max(0, Math.round(Math.log10(size / width))));
}
