// Makes an order from the record of a batch, to resume it without a command line.

import { existsSync } from "node:fs";
import { UserError } from "../../errors.js";
import { loadMachines } from "../../input/machine/load-machines.js";
import { plainMachine } from "../../input/machine/plain-machine.js";
import type { MachineSpec } from "../../model/machine.js";
import type { RecordedMachine } from "../../plan/fold/read-past.js";
import type { Results } from "../../run/home/results.js";
import type { Rerun } from "../../run/rerun.js";
import type { FollowOrder } from "../follow/follow-batch.js";
import { readTrees } from "../forward/working-directory.js";
import { machineContext, type Surroundings } from "../surroundings.js";
import { type BatchHere, isSweep } from "./batches-here.js";

const POLICY = { retries: 2, retriesFailures: false, reassignAfterMs: 600_000 };

export interface Means {
  readonly results: Results;
  readonly surroundings: Surroundings;
  /** What configuration files set now. */
  readonly variables: Readonly<Record<string, string>>;
}

/** `rerun`: which of the jobs that are done are run again. */
export async function orderFor(here: BatchHere, means: Means, rerun: Rerun): Promise<FollowOrder> {
  const { results, surroundings, variables } = means;
  const { script, jobs, settings } = here;
  const startsJobs =
    here.state.waiting.size + here.state.held.size > 0 || rerun !== "none" || isAnySent(here);
  const fromFiles = (settings.envFromFiles ?? []).filter((name) => name in variables);
  const lost = new Set([
    ...settings.envNames.filter((name) => !fromFiles.includes(name)),
    ...jobs.flatMap((job) => job.envNames ?? []),
  ]);
  if (startsJobs && lost.size > 0) {
    throw new UserError(
      `${script} was started with --env ${[...lost].join(", ")}, whose values are not stored`,
      {
        hint: `type the ${isSweep(jobs) ? "sshoal sweep … --run" : `execute_batch ${script} …`} command again`,
      },
    );
  }
  const order = closedOrder(here, results);
  if (!startsJobs) return order;
  return {
    ...order,
    rerun,
    env: Object.fromEntries(fromFiles.map((name) => [name, variables[name] ?? ""])),
    machines: await reloadMachines([...here.machines.values()], surroundings),
    trees: readTrees(surroundings, settings, jobs, here.isFollowed ? script : null),
  };
}

/** No job begins: jobs on machines are followed to their end. */
export function closedOrder({ script, stem, jobs, settings }: BatchHere, results: Results): FollowOrder {
  return {
    settings,
    script,
    stem,
    jobs,
    feed: null,
    matching: "id",
    results,
    rerun: "none",
    policy: POLICY,
    env: {},
    machines: [],
    trees: new Map(),
  };
}

/** They may not have arrived, and are sent again; those that an older version sent are taken back, and begin again. */
function isAnySent({ state }: BatchHere): boolean {
  return [...state.machines.values()].some(({ current }) =>
    [...current.sent].some(({ job }) => !state.stopping.has(job)),
  );
}

/**
 * A machine's setup and limits are in its file: without the file, it can get no jobs. For a machine named as to ssh,
 * the record has everything.
 */
export async function reloadMachines(
  machines: readonly RecordedMachine[],
  surroundings: Surroundings,
): Promise<MachineSpec[]> {
  const plain = machines.filter(({ file, spool }) => file === null && spool === undefined);
  const files = machines.flatMap(({ file }) => (file !== null && existsSync(file) ? [file] : []));
  const loaded = await loadMachines([...new Set(files)], machineContext(null, surroundings));
  return [
    ...plain.map(({ name, address }) => plainMachine(name, address)),
    ...loaded.map((spec) =>
      asRecorded(
        spec,
        machines.findLast(({ file, spool }) => file === spec.file && spool === undefined),
      ),
    ),
  ];
}

/** Its name, and the ssh configuration of -F, are not in the file. */
function asRecorded(spec: MachineSpec, recorded: RecordedMachine | undefined): MachineSpec {
  if (recorded === undefined) return spec;
  const { name, address } = recorded;
  if (spec.address.kind !== "ssh" || address.kind !== "ssh") return { ...spec, name };
  return { ...spec, name, address: { ...spec.address, configFile: address.configFile } };
}
