// Reads what a slot measured of a job from the facts at the end of its line. Pure.

import type { Footprint } from "../../model/footprint.js";

/** More digits than any machine has. */
const MOST_MB_DIGITS = 9;
const MOST_MS_DIGITS = 13;

/** Undefined: nothing is known. A value of another form is unknown. */
export function footprintOf(facts: ReadonlyMap<string, string>): Footprint | undefined {
  const memoryMb = numberIn(facts, "mem", MOST_MB_DIGITS);
  const gpuMemoryMb = numberIn(facts, "gpu", MOST_MB_DIGITS);
  const cpuMs = numberIn(facts, "cpu", MOST_MS_DIGITS);
  if (memoryMb === undefined && gpuMemoryMb === undefined && cpuMs === undefined) return undefined;
  return {
    ...(memoryMb !== undefined && { memoryMb }),
    ...(gpuMemoryMb !== undefined && { gpuMemoryMb }),
    ...(cpuMs !== undefined && { cpuMs }),
  };
}

function numberIn(facts: ReadonlyMap<string, string>, name: string, most: number): number | undefined {
  const text = facts.get(name);
  return text !== undefined && text.length <= most && /^\d+$/.test(text) ? Number(text) : undefined;
}
