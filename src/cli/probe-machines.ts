// `sshoal probe`: what is free where, and how many jobs of the given kind would fit.

import { ExitCode } from "../errors.js";
import { explainShortages } from "../plan/explain.js";
import { formatProbeTable } from "../report/probe-table.js";
import type { MachineOptions } from "./run-options.js";
import { connector, machinesFor, readSurroundings } from "./surroundings.js";
import { type Surveyed, survey } from "./survey.js";

export async function probeMachines({ machines, requirement, isJson }: MachineOptions): Promise<ExitCode> {
  const surroundings = readSurroundings();
  const specs = await machinesFor(machines, surroundings);
  const note = (message: string) => process.stderr.write(`${message}\n`);
  const surveyed = await survey(specs, requirement, connector(surroundings, note));
  if (isJson) process.stdout.write(surveyed.map((each) => `${JSON.stringify(toJson(each))}\n`).join(""));
  else
    process.stdout.write(
      formatProbeTable(
        surveyed.map((each) => toRow(each, requirement)),
        process.stdout.columns,
      ),
    );
  return surveyed.some(({ kind }) => kind === "probed") ? ExitCode.Success : ExitCode.NoMachine;
}

function toJson(surveyed: Surveyed): object {
  const { kind, spec } = surveyed;
  if (kind === "failed")
    return { v: 1, machine: spec.name, kind, reason: surveyed.reason, hint: surveyed.hint };
  return { v: 1, machine: spec.name, kind, capacity: surveyed.capacity, slots: surveyed.plan.slots };
}

function toRow(surveyed: Surveyed, requirement: MachineOptions["requirement"]) {
  const machine = surveyed.spec.name;
  if (surveyed.kind === "failed")
    return { kind: "failed" as const, machine, reason: surveyed.reason, hint: surveyed.hint };
  const { capacity, plan } = surveyed;
  const notes = explainShortages({ capacity, requirement, plan });
  return { kind: "probed" as const, machine, capacity, slots: plan.slots.length, notes };
}
