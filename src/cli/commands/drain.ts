// `sshoal drain` and `undrain`: the batches of this directory give a machine no more jobs, or give it jobs again.

import { type BatchHere, hintAtNames, loadBatches } from "../../batch/find/batches-here.js";
import { drainMachine, machineOf } from "../../batch/machine/drain-machine.js";
import { ExitCode, UserError } from "../../errors.js";
import { jsonLine } from "../../report/lines/json-lines.js";
import { Results } from "../../run/home/results.js";
import type { DrainOptions } from "../options/acting-commands.js";
import { readSurroundings } from "../read-surroundings.js";
import { connector } from "../terminal/connectors.js";
import { note } from "../terminal/note.js";

const DOING = { drain: "draining", undrain: "open again" } as const;
/** As in the events of a run. */
const KINDS = { drain: "machine-draining", undrain: "machine-opened" } as const;

export async function drain(options: DrainOptions, verb: "drain" | "undrain"): Promise<ExitCode> {
  const surroundings = readSurroundings();
  const results = new Results(surroundings.cwd);
  const batches = loadBatches(results);
  const there = batches.flatMap((here) => {
    const found = options.machines.flatMap((machine) => machineOf(here, machine) ?? []);
    return [...new Set(found)].map((machine) => ({ here, machine }));
  });
  if (there.length === 0) {
    throw new UserError(`no batch of this directory has jobs on ${options.machine}`, {
      hint: hintAtBusy(options.machine, batches),
    });
  }
  const connect = connector(surroundings, options, note);
  for (const { here, machine } of there) {
    await drainMachine({ here, machine, verb }, results, connect);
    const { batch } = here;
    const text = `${DOING[verb]}: ${machine}; ${batch}`;
    process.stdout.write(`${options.isJson ? jsonLine({ kind: KINDS[verb], machine, batch }) : text}\n`);
  }
  return ExitCode.Success;
}

function hintAtBusy(name: string, batches: readonly BatchHere[]): string {
  const busy = batches.flatMap(({ state }) =>
    [...state.machines].flatMap(([machine, { hasSpool }]) => (hasSpool ? [machine] : [])),
  );
  return busy.length === 0 ? "sshoal status shows where jobs are" : hintAtNames(name, [...new Set(busy)]);
}
