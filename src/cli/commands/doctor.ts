// `sshoal doctor`: whether a batch would run on each machine, and what to do where it would not.

import { readdir } from "node:fs/promises";
import type { Connector } from "../../batch/connector.js";
import { reach } from "../../batch/reach.js";
import { machinesFor } from "../../batch/surroundings.js";
import { ExitCode } from "../../errors.js";
import { diagnose, diagnoseFailure, isFit } from "../../fitness/diagnose.js";
import type { Check } from "../../model/examination.js";
import type { MachineSpec } from "../../model/machine.js";
import { examine, findSurvivor } from "../../remote/doctor/examine.js";
import { abilitiesOf } from "../../report/live/abilities.js";
import { type DiagnosedMachine, formatDoctor } from "../../report/tables/doctor-lines.js";
import type { ConnectErrorKind } from "../../transport/connect-error.js";
import type { MachineOptions } from "../options/run-options.js";
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
  const visit: Visit = { connect, notes, treeNames: await readdir(surroundings.cwd), options };
  const machines = await Promise.all(
    specs.map(async (spec): Promise<DiagnosedMachine> => {
      const checks = await checkMachine(spec, visit);
      return { machine: spec.name, isFit: isFit(checks), checks };
    }),
  );
  process.stdout.write(options.isJson ? formatJson(machines) : formatDoctor(machines, canvas()));
  if (machines.every((each) => each.isFit)) return ExitCode.Success;
  return machines.some((each) => each.isFit) ? ExitCode.JobFailed : ExitCode.NoMachine;
}

interface Visit {
  readonly connect: Connector;
  /** What was said while connecting; a host key that is new is named there. */
  readonly notes: readonly string[];
  readonly treeNames: readonly string[];
  readonly options: MachineOptions;
}

async function checkMachine(
  spec: MachineSpec,
  { connect, notes, treeNames, options }: Visit,
): Promise<Check[]> {
  const beganAt = performance.now();
  let tookMs: number | null = null;
  const first = await reach(spec, connect, async (session, signal) => {
    tookMs = performance.now() - beganAt;
    return { about: session.about, look: await examine(session, spec, signal) };
  });
  if (first.kind === "unreached")
    return [diagnoseFailure(tookMs === null ? checkOf(first.failure) : "scripts", first)];
  const { about, look } = first.answer;
  const { survivor } = look;
  const again =
    survivor === null
      ? null
      : await reach(spec, connect, (session, signal) => findSurvivor(session, survivor, signal));
  const isHostKeyNew = about.hostKey !== null && notes.some((said) => said.includes(about.hostKey ?? ""));
  const examination = {
    ...look,
    connection: { ...about, isHostKeyNew, tookMs: tookMs ?? 0 },
    outlivesLogout: again?.kind === "reached" ? again.answer : null,
  };
  const checks = diagnose({ spec, examination, requirement: options.requirement, treeNames });
  return again?.kind === "unreached" ? [...checks, diagnoseFailure("reach again", again)] : checks;
}

/** How far it got. */
function checkOf(failure: ConnectErrorKind | null): string {
  if (failure === "host-key") return "host key";
  return failure === "auth" || failure === "key-file" ? "login" : "reach";
}

function formatJson(machines: readonly DiagnosedMachine[]): string {
  return machines
    .map(({ machine, isFit, checks }) => `${JSON.stringify({ v: 1, machine, fit: isFit, checks })}\n`)
    .join("");
}

function canvas() {
  const { isTTY = false, columns, rows } = process.stdout;
  return { ...abilitiesOf({ isTTY, columns, rows, env: process.env }), columns: columns || 80 };
}
