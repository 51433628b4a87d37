// Writes the claim of a slot. claim/read-claim.sh and probe/parse-claims.ts read it; docs/slot.md has the format.

import type { Requirement } from "../../model/job.js";
import type { Slot } from "../../model/machine.js";

export function formatClaim({ memoryMb, cpus, gpu, reservesMachine }: Requirement, slot: Slot): string {
  const cards = slot.gpus.map(({ uuid }) => uuid).join(",") || "-";
  const words = [
    amount(memoryMb),
    fraction(cpus),
    amount(gpu?.memoryMb ?? 0),
    fraction(gpu?.utilization ?? 0),
    gpu?.isReserved ? 1 : 0,
    reservesMachine ? 1 : 0,
    cards,
  ];
  return `${words.join(" ")}\n`;
}

/** sh counts in whole MB with at most nine digits. */
function amount(mb: number): number {
  return Math.min(Math.ceil(mb), 999_999_999);
}

/** Without an exponent. */
function fraction(share: number): number {
  return Math.round(share * 1000) / 1000;
}
