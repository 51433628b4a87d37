// Probes machines without leaving anything there: for `probe` and `--dry-run`.

import type { Requirement } from "../model/job.js";
import type { Capacity, MachineSpec } from "../model/machine.js";
import { planSlots, type SlotPlan } from "../plan/slots.js";
import { probe } from "../remote/probe.js";
import type { Connect } from "../run/machine-link.js";

export type Surveyed = { readonly spec: MachineSpec } & (
  | { readonly kind: "probed"; readonly capacity: Capacity; readonly plan: SlotPlan }
  | { readonly kind: "failed"; readonly reason: string; readonly hint: string | null }
);

/** One bad machine does not keep the others from answering. */
export function survey(
  machines: readonly MachineSpec[],
  requirement: Requirement,
  connect: Connect,
): Promise<Surveyed[]> {
  return Promise.all(machines.map((spec) => surveyOne(spec, requirement, connect)));
}

async function surveyOne(spec: MachineSpec, requirement: Requirement, connect: Connect): Promise<Surveyed> {
  const { signal } = new AbortController();
  try {
    const session = await connect(spec, signal);
    try {
      const capacity = await probe(session, { bases: ["~/.sshoal"] }, signal);
      return { kind: "probed", spec, capacity, plan: planSlots({ spec, capacity, requirement }) };
    } finally {
      await session.close();
    }
  } catch (error) {
    // What a machine did wrong carries a hint; anything else is our bug.
    if (!(error instanceof Error && "hint" in error)) throw error;
    return { kind: "failed", spec, reason: error.message, hint: error.hint as string | null };
  }
}
