// A batch as its record knows it, made into an order to go on with it: no command line is needed.

import { existsSync } from "node:fs";
import { UserError } from "../errors.js";
import { loadMachines, localMachine } from "../input/load.js";
import type { MachineSpec } from "../model/machine.js";
import type { RecordedMachine } from "../plan/replay.js";
import { noTree, scanTree } from "../remote/tree.js";
import type { Rerun } from "../run/opening.js";
import type { Results } from "../run/results.js";
import type { BatchHere } from "./batches-here.js";
import type { Following } from "./follow-batch.js";
import type { Surroundings } from "./surroundings.js";

const POLICY = { retries: 2, retriesFailures: false, reassignAfterMs: 600_000 };

/** `rerun`: which of the jobs that are done are run again. */
export async function orderFor(
  here: BatchHere,
  results: Results,
  surroundings: Surroundings,
  rerun: Rerun,
): Promise<Following["order"]> {
  const { script, jobs, settings } = here;
  const startsJobs = here.state.waiting.size > 0 || rerun !== "none";
  if (startsJobs && settings.envNames.length > 0) {
    throw new UserError(
      `${script} was started with --env ${settings.envNames.join(", ")}, whose values are not kept`,
      {
        hint: `type the execute_batch ${script} … command again`,
      },
    );
  }
  return {
    ...settings,
    script,
    jobs,
    results,
    rerun,
    policy: POLICY,
    env: {},
    machines: startsJobs ? await reloadMachines([...here.machines.values()], surroundings) : [],
    tree: startsJobs ? await scanTree(surroundings.cwd, settings.copyForward) : noTree(surroundings.cwd),
  };
}

/** Only machines whose files are still there can be given jobs: their setup and limits are in those. */
async function reloadMachines(
  machines: readonly RecordedMachine[],
  surroundings: Surroundings,
): Promise<MachineSpec[]> {
  const files = machines.flatMap(({ file }) => (file !== null && existsSync(file) ? [file] : []));
  const loaded = await loadMachines(files, surroundings);
  const isLocal = machines.some(({ address }) => address.kind === "local");
  return isLocal ? [localMachine(), ...loaded] : loaded;
}
