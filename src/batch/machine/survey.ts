// Probes machines without leaving anything on them: for `probe` and `--dry-run`.

import type { Placing } from "../../model/batch.js";
import type { Requirement } from "../../model/job.js";
import type { Capacity, MachineSpec } from "../../model/machine.js";
import { planSlots, type SlotPlan } from "../../plan/slots/slots.js";
import { probe } from "../../remote/probe/probe.js";
import { checkPlace } from "../../remote/spool/check-place.js";
import type { About } from "../../transport/session.js";
import type { Connector } from "../connector.js";
import { reach } from "./reach.js";

export type Surveyed = { readonly spec: MachineSpec } & (
  | {
      readonly kind: "probed";
      readonly capacity: Capacity;
      readonly plan: SlotPlan;
      /** How it was reached. */
      readonly about: About;
    }
  | { readonly kind: "failed"; readonly reason: string; readonly hint: string | null }
);

interface Surveying {
  readonly requirement: Requirement;
  readonly placing: Placing;
  readonly connect: Connector;
  /** The processes on every card are wanted. */
  readonly wantsHolders: boolean;
}

/** One bad machine does not affect the others. */
export function survey(machines: readonly MachineSpec[], surveying: Surveying): Promise<Surveyed[]> {
  return Promise.all(machines.map((spec) => surveyOne(spec, surveying)));
}

async function surveyOne(
  spec: MachineSpec,
  { requirement, placing, connect, wantsHolders }: Surveying,
): Promise<Surveyed> {
  const reached = await reach(spec, connect, async (session, signal) => {
    // The probe comes first, because it explains problems of login shells.
    const capacity = await probe(session, { bases: ["~/.sshoal"], wantsHolders }, signal);
    await checkPlace(session, spec.scratch, signal);
    return { capacity, about: session.about };
  });
  if (reached.kind === "unreached")
    return { kind: "failed", spec, reason: reached.reason, hint: reached.hint };
  const { capacity, about } = reached.answer;
  return { kind: "probed", spec, capacity, about, plan: planSlots({ spec, capacity, placing, requirement }) };
}
