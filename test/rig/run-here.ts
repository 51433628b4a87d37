// A run inside the test's own process, over the real transport: for tests of one process, or of other settings.

import type { Fleet } from "../../src/fleet/fleet.js";
import { loadBatch } from "../../src/input/batch/load-batch.js";
import { loadMachines } from "../../src/input/machine/load-machines.js";
import type { RunEvent } from "../../src/model/event.js";
import { scanTree } from "../../src/remote/tree/tree.js";
import { type BatchRun, startRun } from "../../src/run/batch-run.js";
import { Results } from "../../src/run/home/results.js";

export interface RunHere {
  /** Its jobs.sh is the batch. */
  readonly dir: string;
  readonly homeDir: string;
  readonly machineFile: string;
  readonly fleet: Fleet;
  readonly onEvent: (event: RunEvent) => void;
}

export async function startRunHere({
  dir,
  homeDir,
  machineFile,
  fleet,
  onEvent,
}: RunHere): Promise<BatchRun> {
  const results = new Results(dir);
  await results.prepare();
  const { jobs } = await loadBatch(`${dir}/jobs.sh`);
  const known = { cwd: dir, homeDir, configFile: null, knowsHost: async () => false };
  return startRun({
    script: "jobs.sh",
    stem: "jobs.sh",
    jobs: jobs.map((job) => ({ ...job, name: `jobs.sh.${job.line}` })),
    machines: await loadMachines([machineFile], known),
    client: "test",
    settings: {
      requirement: { cpus: 0.01, memoryMb: 1, gpu: null, reservesMachine: false },
      timeoutSeconds: null,
      inPlace: null,
      copyForward: ["."],
      copyBack: ["."],
      copiesUnchanged: false,
    },
    env: {},
    feed: null,
    trees: new Map([["-", scanTree(dir, ["."])]]),
    results,
    policy: { retries: 2, retriesFailures: false, reassignAfterMs: null },
    matching: "command",
    rerun: "none",
    onEvent,
    fleet,
  });
}
