// `--dry-run`: the slots there would be and the commands that would start first. Leaves nothing anywhere.

import { ExitCode } from "../errors.js";
import type { Job } from "../model/job.js";
import type { MachineSpec, Slot } from "../model/machine.js";
import { deviceEnv } from "../plan/devices.js";
import { explainShortages } from "../plan/explain.js";
import { createJsonReporter } from "../report/json.js";
import { createPlainReporter, startedLine } from "../report/plain.js";
import type { Reporter } from "../report/reporter.js";
import { Results } from "../run/results.js";
import type { RunOptions } from "./run-options.js";
import { connector, type Surroundings } from "./surroundings.js";
import { type Surveyed, survey } from "./survey.js";

export interface DryRun {
  readonly jobs: readonly Job[];
  readonly machines: readonly MachineSpec[];
  readonly options: RunOptions;
  readonly surroundings: Surroundings;
}

export async function dryRun({ jobs, machines, options, surroundings }: DryRun): Promise<ExitCode> {
  const { requirement, isJson } = options;
  const { stdout, stderr } = process;
  const names = machines.map(({ name }) => name);
  const reporter = isJson
    ? createJsonReporter(stdout)
    : createPlainReporter({ stdout, stderr, machines: names, devicesOf: () => ({}), isVerbose: false });
  const note = (message: string) => reporter.show({ kind: "warning", message, at: Date.now() });
  const surveyed = await survey(machines, requirement, connector(surroundings, options, note));
  for (const each of surveyed) showSurveyed(each, options, reporter);
  const results = new Results(surroundings.cwd);
  const waiting = jobs.filter(({ name }) => !results.has(name));
  firstPlaces(surveyed).forEach(({ machine, slot }, turn) => {
    const job = waiting[turn];
    if (job === undefined) return;
    const { line, name } = job;
    const text = `would start on ${machine}: ${startedLine(job, deviceEnv(slot, requirement))}`;
    const object = { v: 1, kind: "would-start", line, job: name, machine, slot: slot.index };
    stdout.write(`${isJson ? JSON.stringify(object) : text}\n`);
  });
  return surveyed.some((each) => hasRoom(each)) ? ExitCode.Success : ExitCode.NoMachine;
}

function showSurveyed(surveyed: Surveyed, { requirement }: RunOptions, reporter: Reporter): void {
  const about = { machine: surveyed.spec.name, at: Date.now() };
  if (surveyed.kind === "failed") {
    return reporter.show({ kind: "machine-failed", reason: surveyed.reason, hint: surveyed.hint, ...about });
  }
  const { capacity, plan } = surveyed;
  if (hasRoom(surveyed)) reporter.show({ kind: "machine-ready", capacity, slots: plan.slots, ...about });
  else {
    const reason = explainShortages({ capacity, requirement, plan }).join("; ");
    reporter.show({ kind: "machine-failed", reason, hint: null, ...about });
  }
}

function hasRoom(surveyed: Surveyed): boolean {
  return surveyed.kind === "probed" && surveyed.plan.slots.length > 0;
}

/** The order in which jobs are dealt: first slots of all machines, then second ones. */
function firstPlaces(surveyed: readonly Surveyed[]): { machine: string; slot: Slot }[] {
  const places = surveyed.flatMap((each) =>
    each.kind === "probed" ? each.plan.slots.map((slot) => ({ machine: each.spec.name, slot })) : [],
  );
  return places.sort((a, b) => a.slot.index - b.slot.index);
}
