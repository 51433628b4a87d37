// Explains why a machine can never run jobs of a kind, and what would fit instead.

import type { Capacity } from "../../model/machine.js";
import { explainShortages } from "./explain.js";
import type { Served } from "./kinds.js";

export function whyNever(capacity: Capacity, short: Served["short"]): string {
  const lines = short.flatMap(({ nearest, ...kind }) => [
    ...explainShortages({ capacity, ...kind, isNever: true }),
    ...(nearest.length === 0 ? [] : [`would fit: ${nearest.join(", or ")}`]),
  ]);
  return [...new Set(lines)].join("; ");
}
