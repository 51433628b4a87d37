// Opens a large batch as a command does, up to the first machine: lock, record on disk, state and first decisions. No
// machine answers.

import { Fleet } from "../src/fleet/fleet.js";
import { bashAt } from "../src/input/batch/ask-bash.js";
import { parseBatch } from "../src/input/batch/batch-file.js";
import { plainMachine } from "../src/input/machine/plain-machine.js";
import { startRun } from "../src/run/batch-run.js";
import { Results } from "../src/run/home/results.js";
import { silentReporter } from "./silent-view.js";

export interface Opened {
  /** From the bytes of the batch file to the first connection. */
  readonly wallMs: number;
  /** Of this process, user and system, in that time. */
  readonly cpuMs: number;
}

/** `onOpen` is called just after. */
export async function openBatch(
  content: Uint8Array,
  machineCount: number,
  dir: string,
  onOpen = () => {},
): Promise<Opened> {
  const begun = performance.now();
  const cpu = process.cpuUsage();
  const { jobs } = await parseBatch(content, "jobs.sh", bashAt("bash"));
  const machines = Array.from({ length: machineCount }, (_, n) =>
    plainMachine(`machine-${n}.yaml`, { kind: "local" }),
  );
  const results = new Results(dir);
  await results.prepare();
  const names = machines.map(({ name }) => name);
  const reporter = silentReporter(names);
  const enough = new Error("it is open");
  let opened: Opened | null = null;
  const run = startRun({
    client: "bench",
    script: "jobs.sh",
    stem: "jobs.sh",
    jobs,
    machines,
    feed: null,
    settings: {
      requirement: { cpus: 1, memoryMb: 1, gpu: null, reservesMachine: false },
      timeoutSeconds: null,
      inPlace: null,
      copyForward: [],
      copyBack: [],
      copiesUnchanged: false,
    },
    policy: { retries: 2, retriesFailures: false, reassignAfterMs: null },
    matching: "command",
    rerun: "none",
    env: {},
    trees: new Map([["-", Promise.resolve({ hash: "", dir, entries: [], bytes: 0, leftOut: [] })]]),
    results,
    onEvent: (event, isNews) => reporter.show(event, { state: run.state, isNews }),
    fleet: new Fleet((_, signal) => {
      if (opened === null) {
        const { user, system } = process.cpuUsage(cpu);
        opened = { wallMs: performance.now() - begun, cpuMs: (user + system) / 1000 };
        setImmediate(() => {
          onOpen();
          run.abandon(enough);
        });
      }
      return new Promise((_, reject) => {
        signal.addEventListener("abort", () => reject(enough));
      });
    }),
  });
  await run.finish().catch((error: unknown) => {
    if (error !== enough) throw error;
  });
  if (opened === null) throw new Error("no machine was connected");
  return opened;
}
