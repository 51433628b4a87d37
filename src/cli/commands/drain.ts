// `sshoal drain`: the batches of this directory give a machine no more jobs.

import { type BatchHere, hintAtNames, loadBatches } from "../../batch/batches-here.js";
import { withControl } from "../../batch/reach.js";
import { ExitCode, UserError } from "../../errors.js";
import { olderName } from "../../model/machine.js";
import { Results } from "../../run/home/results.js";
import type { DrainOptions } from "../options/acting-commands.js";
import { readSurroundings } from "../read-surroundings.js";
import { connector } from "../terminal/connectors.js";
import { note } from "../terminal/note.js";

export async function drain(options: DrainOptions): Promise<ExitCode> {
  const { machine: name } = options;
  const surroundings = readSurroundings();
  const batches = loadBatches(new Results(surroundings.cwd));
  const there = batches.flatMap(({ batch, machines, state }) =>
    [name, olderName(name)].flatMap((each) => {
      const machine = machines.get(each);
      return machine !== undefined && state.machines.get(each)?.hasSpool ? [{ batch, machine }] : [];
    }),
  );
  if (there.length === 0) {
    throw new UserError(`no batch of this directory has jobs on ${name}`, {
      hint: hintAtBusy(name, batches),
    });
  }
  const connect = connector(surroundings, options, note);
  for (const { batch, machine } of there) {
    await withControl(machine, batch, connect, (control) => control.drain());
    process.stdout.write(`draining: ${machine.name}; ${batch}\n`);
  }
  return ExitCode.Success;
}

function hintAtBusy(name: string, batches: readonly BatchHere[]): string {
  const busy = batches.flatMap(({ state }) =>
    [...state.machines].flatMap(([machine, { hasSpool }]) => (hasSpool ? [machine] : [])),
  );
  return busy.length === 0 ? "sshoal status shows where jobs are" : hintAtNames(name, [...new Set(busy)]);
}
