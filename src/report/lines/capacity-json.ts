// What was measured of a machine, as programs get it: claims also have the fields that version 0.3 gave them.

import type { Capacity, Claim } from "../../model/machine.js";

export function capacityJson(capacity: Capacity): Capacity {
  return { ...capacity, claims: capacity.claims.map(withOlderFields) };
}

/** All cards of a claim were alike then. */
function withOlderFields(claim: Claim): Claim {
  const [first] = claim.cards;
  const older = {
    gpuUuids: claim.cards.map(({ uuid }) => uuid),
    gpuMemoryMb: first?.memoryMb ?? 0,
    gpuUtilization: first?.share ?? 0,
    reservesGpu: first?.amount === 1,
  };
  return { ...claim, ...older };
}
