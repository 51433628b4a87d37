// `sshoal doctor`: checks whether a batch would run on each machine, and prints fixes.

import { readdir } from "node:fs/promises";
import { checkMachine } from "../../batch/machine/check-machine.js";
import { machinesFor } from "../../batch/surroundings.js";
import { ExitCode } from "../../errors.js";
import { isFit } from "../../fitness/diagnose.js";
import { jsonLine } from "../../report/lines/json-lines.js";
import { abilitiesOf } from "../../report/live/abilities.js";
import { type DiagnosedMachine, formatDoctor } from "../../report/tables/doctor-lines.js";
import type { MachineOptions } from "../options/machine-options.js";
import { readSurroundings } from "../read-surroundings.js";
import { connector } from "../terminal/connectors.js";
import { note } from "../terminal/note.js";

export async function doctor(options: MachineOptions): Promise<ExitCode> {
  const surroundings = readSurroundings();
  const specs = await machinesFor(options, surroundings);
  const notes: string[] = [];
  const connect = connector(surroundings, options, (message) => {
    notes.push(message);
    note(message);
  });
  const { requirement, limitsMemory: triesLimit } = options;
  const visit = { connect, notes, treeNames: await readdir(surroundings.cwd), requirement, triesLimit };
  const machines = await Promise.all(
    specs.map(async (spec): Promise<DiagnosedMachine> => {
      const checks = await checkMachine(spec, visit);
      return { machine: spec.name, isFit: isFit(checks), checks };
    }),
  );
  const json = () => machines.map((each) => `${doctorJson(each)}\n`).join("");
  process.stdout.write(options.isJson ? json() : formatDoctor(machines, canvas()));
  if (machines.every((each) => each.isFit)) return ExitCode.Success;
  return machines.some((each) => each.isFit) ? ExitCode.JobFailed : ExitCode.NoMachine;
}

/** In the format that docs/json-events.md promises to keep. */
export function doctorJson({ machine, isFit, checks }: DiagnosedMachine): string {
  return jsonLine({ v: 1, kind: "machine-checked", machine, fit: isFit, checks });
}

function canvas() {
  const { isTTY = false, columns, rows } = process.stdout;
  return { ...abilitiesOf({ isTTY, columns, rows, env: process.env }), columns: columns || 80 };
}
