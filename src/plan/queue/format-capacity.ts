// A capacity as it is typed: `{gpu: 4, RAM: [512], disk: {fast: 1}}`. Reading it gives the same capacity.

import type { Capacities } from "../../model/queue.js";

export function formatCapacity(capacity: Capacities): string {
  const parts = Object.entries(capacity).map(
    ([name, instances]) => `${nameWord(name)}: ${amounts(instances)}`,
  );
  return `{${parts.join(", ")}}`;
}

/** Numbers as names come first and in their order, whatever was typed. */
function amounts(instances: Readonly<Record<string, number>>): string {
  const entries = Object.entries(instances);
  const isList = entries.every(([name], index) => name === `${index}`);
  if (!isList) return `{${entries.map(([name, amount]) => `${nameWord(name)}: ${amount}`).join(", ")}}`;
  if (entries.every(([, amount]) => amount === 1)) return `${entries.length}`;
  return `[${entries.map(([, amount]) => amount).join(", ")}]`;
}

function nameWord(name: string): string {
  return /^[A-Za-z_]\w*$/.test(name) ? name : JSON.stringify(name);
}
