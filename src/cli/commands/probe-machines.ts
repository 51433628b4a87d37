// `sshoal probe`: prints the free resources of each machine, and how many of the given jobs would fit.

import { machinesFor } from "../../batch/surroundings.js";
import { type Surveyed, survey } from "../../batch/survey.js";
import { ExitCode } from "../../errors.js";
import { explainShortages } from "../../plan/slots/explain.js";
import { formatProbeTable, type ProbedMachine } from "../../report/tables/probe-table.js";
import type { MachineOptions } from "../options/machine-options.js";
import { readSurroundings } from "../read-surroundings.js";
import { connector } from "../terminal/connectors.js";
import { describeAbout } from "../terminal/describe-about.js";
import { note } from "../terminal/note.js";

export async function probeMachines(options: MachineOptions): Promise<ExitCode> {
  const { requirement, isJson } = options;
  const surroundings = readSurroundings();
  const specs = await machinesFor(options, surroundings);
  const surveyed = await survey(specs, requirement, connector(surroundings, options, note));
  if (isJson) process.stdout.write(surveyed.map((each) => `${JSON.stringify(toJson(each))}\n`).join(""));
  else
    process.stdout.write(
      formatProbeTable(
        surveyed.map((each) => toRow(each, options)),
        process.stdout.columns,
      ),
    );
  return surveyed.some(({ kind }) => kind === "probed") ? ExitCode.Success : ExitCode.NoMachine;
}

function toJson(surveyed: Surveyed): object {
  const { kind, spec } = surveyed;
  if (kind === "failed")
    return { v: 1, machine: spec.name, kind, reason: surveyed.reason, hint: surveyed.hint };
  const { capacity, plan, about } = surveyed;
  return { v: 1, machine: spec.name, kind, capacity, slots: plan.slots, about };
}

function toRow(surveyed: Surveyed, { requirement, isVerbose }: MachineOptions): ProbedMachine {
  const machine = surveyed.spec.name;
  if (surveyed.kind === "failed")
    return { kind: "failed", machine, reason: surveyed.reason, hint: surveyed.hint };
  const { capacity, plan, about } = surveyed;
  const shortages = explainShortages({ capacity, requirement, plan });
  const notes = isVerbose ? [describeAbout(about), ...shortages] : shortages;
  return { kind: "probed", machine, capacity, slots: plan.slots.length, notes };
}
