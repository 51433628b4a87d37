// Measures the machines of a batch for `why`.

import type { MeasuredMachine } from "../../plan/why/explain-waiting.js";
import type { BatchHere } from "../find/batches-here.js";
import { reloadMachines } from "../find/recorded-batch.js";
import type { Surroundings } from "../surroundings.js";
import { type Measuring, measureMachine } from "./measure-machine.js";

/** Without the jobs that wait longer, which are known once all machines have answered. */
export async function measureMachines(
  here: BatchHere,
  measuring: Measuring & { readonly surroundings: Surroundings },
): Promise<MeasuredMachine[]> {
  const recorded = [...here.machines.values()].filter(({ spool }) => spool === undefined);
  const specs = await reloadMachines(recorded, measuring.surroundings);
  return Promise.all(
    recorded.map(({ name, file }) => {
      const spec = specs.find((each) => each.name === name);
      if (spec !== undefined) return measureMachine(spec, here, measuring);
      return { kind: "unreachable" as const, machine: name, reason: `${file} is gone`, sinceMs: null };
    }),
  );
}
