// Writes reasons as machines report them: `memory:7000:5120 cards:1000:0 card:0:bad`. docs/room.md lists the words.

import type { CardRefusal, RefusedCard, Shortage } from "../../model/shortage.js";

/** Limits that only a forecast has are left out. */
export function formatReason(shortages: readonly Shortage[]): string {
  return shortages.flatMap(formatShortage).join(" ");
}

function formatShortage(shortage: Shortage): string[] {
  switch (shortage.kind) {
    case "machine-claimed":
    case "machine-in-use":
    case "machine-held":
      return [["machine", name(shortage.owner), name(shortage.batch)].join(":")];
    case "max-jobs":
      return [`jobs:${shortage.maxJobs}`];
    case "memory":
      return [`memory:${shortage.neededMb}:${shortage.freeMb}`];
    case "memory-unknown":
      return ["memory:-"];
    case "cpus":
      return [`cores:${milli(shortage.needed)}:${milli(shortage.free)}`];
    case "cpus-unknown":
      return ["cores:-"];
    case "gpus":
      return [`cards:${milli(shortage.needed)}:${shortage.available}`, ...shortage.refused.map(formatCard)];
    case "resource":
      return [`res:${name(shortage.name)}:${milli(shortage.needed)}:${milli(shortage.free)}`];
    case "kept":
      return [`kept:${name(shortage.key)}`];
    default:
      return [];
  }
}

function formatCard({ gpu, why }: RefusedCard): string {
  return `card:${gpu.index}:${formatRefusal(why)}`;
}

function formatRefusal(why: CardRefusal): string {
  switch (why.kind) {
    case "memory":
      return `memory:${why.neededMb}:${why.freeMb}:${why.totalMb ?? "-"}`;
    case "utilization":
      return `use:${milli(why.needed)}:${milli(why.used)}`;
    case "amount":
      return `amount:${milli(why.needed)}:${milli(why.free)}`;
    case "taken":
      return ["taken", name(why.owner), name(why.batch), name(why.job)].join(":");
    default:
      return REFUSALS[why.kind];
  }
}

const REFUSALS = {
  "memory-unknown": "unknown",
  "not-allowed": "excluded",
  unusable: "bad",
  "exclusive-in-use": "exclusive",
  slice: "slice",
  "kept-free": "kept",
  "other-person": "person",
  "all-listed": "listed",
} as const;

function milli(amount: number): number {
  return Math.round(amount * 1000);
}

function name(text: string | null | undefined): string {
  return (text ?? "").replace(/[^A-Za-z0-9._@%+?-]/g, "?") || "-";
}
