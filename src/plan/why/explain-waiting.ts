// Explains why a job waits: on each machine as it was measured, what would make room next, and which smaller need would start.

import type { Placing } from "../../model/batch.js";
import type { Capacity, MachineSpec } from "../../model/machine.js";
import type { WhyMachine, WhyWaiting } from "../../model/why.js";
import { type Judged, nearestChange } from "./change.js";
import { nextEnd } from "./next-end.js";
import { type Verdict, verdictOn, type WaitingNeed, type WaitingOn } from "./verdict.js";

export interface WaitingJob {
  readonly batch: string;
  readonly placing: Placing | undefined;
  readonly need: WaitingNeed;
  readonly machines: readonly MeasuredMachine[];
  /** How long running jobs of the batch still run, by label, as far as known. */
  readonly leftMs: ReadonlyMap<string, number>;
}

export type MeasuredMachine =
  | {
      readonly kind: "unreachable";
      readonly machine: string;
      readonly reason: string;
      readonly sinceMs: number | null;
    }
  | { readonly kind: "drained"; readonly machine: string }
  | {
      readonly kind: "measured";
      readonly spec: MachineSpec;
      readonly capacity: Capacity;
      /** Needs of jobs that wait longer there, in their order. */
      readonly earlier: readonly WaitingNeed[];
    };

export function explainWaiting({ batch, placing, need, machines, leftMs }: WaitingJob): WhyWaiting {
  const judged = new Map<MeasuredMachine, Judged>();
  for (const machine of machines) {
    if (machine.kind !== "measured") continue;
    const { spec, capacity, earlier } = machine;
    const waiting: WaitingOn = { spec, capacity, placing, batch, need, earlier };
    judged.set(machine, { waiting, verdict: verdictOn(waiting) });
  }
  return {
    machines: machines.map((machine) => whyOn(machine, judged.get(machine)?.verdict)),
    // Behind other jobs, the next room is not for this one.
    next: nextEnd(
      [...judged.values()].filter(isNextHere).map(({ waiting }) => waiting),
      leftMs,
    ),
    change: nearestChange([...judged.values()]),
  };
}

function isNextHere({ waiting, verdict }: Judged): boolean {
  return waiting.earlier.length === 0 && verdict.kind === "waits" && !verdict.isNever;
}

function whyOn(measured: MeasuredMachine, verdict: Verdict | undefined): WhyMachine {
  if (measured.kind !== "measured") return measured;
  const { spec, capacity } = measured;
  if (verdict === undefined || verdict.kind === "starts") return { kind: "starts", machine: spec.name };
  return { ...verdict, machine: spec.name, capacity, file: spec.file };
}
