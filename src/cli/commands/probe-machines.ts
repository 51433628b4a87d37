// `sshoal probe`: prints the free resources of each machine, and how many of the given jobs would fit.

import { type Surveyed, survey } from "../../batch/machine/survey.js";
import { machinesFor } from "../../batch/surroundings.js";
import { ExitCode } from "../../errors.js";
import type { RoomLook } from "../../model/room-look.js";
import { explainShortages } from "../../plan/slots/explain.js";
import { capacityJson } from "../../report/lines/capacity-json.js";
import { jsonLine } from "../../report/lines/json-lines.js";
import { formatProbeTable, type ProbedMachine } from "../../report/tables/probe-table.js";
import type { MachineOptions } from "../options/machine-options.js";
import { readSurroundings } from "../read-surroundings.js";
import { connector } from "../terminal/connectors.js";
import { describeAbout } from "../terminal/describe-about.js";
import { note } from "../terminal/note.js";
import { printRoom } from "../terminal/print-room.js";

export async function probeMachines(options: MachineOptions): Promise<ExitCode> {
  const { isJson } = options;
  const surroundings = readSurroundings();
  const specs = await machinesFor(options, surroundings);
  const connect = connector(surroundings, options, note);
  const surveyed = await survey(specs, { ...options, connect, wantsHolders: true });
  if (isJson) process.stdout.write(surveyed.map((each) => `${probeJson(each)}\n`).join(""));
  else printTables(surveyed, options);
  return surveyed.some(({ kind }) => kind === "probed") ? ExitCode.Success : ExitCode.NoMachine;
}

/** What `top` shows, then how many jobs fit. */
function printTables(surveyed: readonly Surveyed[], options: MachineOptions): void {
  const looks = surveyed.flatMap((each): RoomLook[] =>
    each.kind === "failed"
      ? []
      : [{ machine: each.spec.name, kind: "seen", capacity: each.capacity, at: Date.now() }],
  );
  if (looks.length > 0) {
    printRoom(looks);
    process.stdout.write("\n");
  }
  const rows = surveyed.map((each) => toRow(each, options));
  process.stdout.write(formatProbeTable(rows, process.stdout.columns));
}

/** In the format that docs/json-events.md promises to keep. */
export function probeJson(surveyed: Surveyed): string {
  const { kind, spec } = surveyed;
  const about = { v: 1, machine: spec.name, kind };
  if (kind === "failed") return jsonLine({ ...about, reason: surveyed.reason, hint: surveyed.hint });
  return jsonLine({
    ...about,
    capacity: capacityJson(surveyed.capacity),
    slots: surveyed.plan.slots,
    about: surveyed.about,
  });
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
