// `{lr:0>4}`: cuts and pads a value as Python's format does with text.

import type { Padding } from "../model/sweep.js";

export function padValue(value: string, { fill, align, width, most }: Padding): string {
  const letters = [...value].slice(0, most ?? undefined);
  const missing = Math.max(0, width - letters.length);
  const before = { "<": 0, ">": missing, "^": Math.floor(missing / 2) }[align];
  return fill.repeat(before) + letters.join("") + fill.repeat(missing - before);
}
