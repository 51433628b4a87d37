// The line of a summary that compares what jobs need by their options with what they used.

import type { NeedAdvice } from "../../model/footprint.js";

const TIMES = [
  "",
  "",
  "twice",
  "three times",
  "four times",
  "five times",
  "six times",
  "seven times",
  "eight times",
];

export function needLine({ what, neededMb, peakMb, enoughMb, times }: NeedAdvice): string {
  const name = what === "memory" ? "Memory" : "GPU memory";
  const whole = Math.floor(times);
  const words = whole < 2 ? `${times} times` : (TIMES[whole] ?? `${whole} times`);
  return `${name}: need ${neededMb} MB, peak ${peakMb}; ${enoughMb} would let ${words} as many run`;
}
