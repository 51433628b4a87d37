// A run that stays open inside the test's own process: its jobs are given by the test.

import { mkdir } from "node:fs/promises";
import { Fleet } from "../../src/fleet/fleet.js";
import { plainMachine } from "../../src/input/machine/plain-machine.js";
import type { RunEvent } from "../../src/model/event.js";
import type { Job, Requirement } from "../../src/model/job.js";
import type { MachineSpec } from "../../src/model/machine.js";
import { noTree } from "../../src/remote/tree/tree.js";
import { type BatchRun, startRun } from "../../src/run/batch-run.js";
import { Results } from "../../src/run/home/results.js";
import type { BatchOrder } from "../../src/run/order.js";
import { connectFrom } from "./connect.js";
import { until } from "./until.js";
import type { Workspace } from "./workspace.js";

export interface OpenRun {
  readonly run: BatchRun;
  readonly events: RunEvent[];
  /** The events of one kind. */
  of<K extends RunEvent["kind"]>(kind: K): Extract<RunEvent, { kind: K }>[];
  /** Resolves when so many results are in place. */
  collected(count: number): Promise<void>;
  /** No more jobs come. Resolves at the end of the run. */
  end(): Promise<void>;
  /** As a killed client: nothing changes on machines. */
  leave(): Promise<void>;
}

const NEED = { cpus: 0.01, memoryMb: 1, gpu: null, reservesMachine: false };

export function settingsFor(requirement: Requirement): BatchOrder["settings"] {
  const copying = { inPlace: "/", copyForward: [], copyBack: ["."], copiesUnchanged: false };
  return { requirement, timeoutSeconds: null, ...copying };
}

export function aJob(id: number, command: string, own: Partial<Job> = {}): Job {
  return { id, line: null, name: `q.${id}`, command, ...own };
}

/** This computer without ssh. Its spool is in the home of the workspace. */
export const HERE: MachineSpec = { ...plainMachine("here", { kind: "local" }), maxJobs: 4 };

export async function startOpenRun(
  work: Workspace,
  machines: readonly MachineSpec[],
  { jobs = [], ...own }: Partial<BatchOrder> = {},
): Promise<OpenRun> {
  const results = own.results ?? new Results(work.dir);
  await results.prepare();
  const home = work.path("home");
  await mkdir(home, { recursive: true });
  const connect = connectFrom(home);
  const events: RunEvent[] = [];
  const run = startRun({
    script: "queue",
    stem: "queue",
    jobs,
    staysOpen: true,
    machines,
    client: "test",
    settings: settingsFor(NEED),
    env: {},
    feed: null,
    trees: new Map([["-", Promise.resolve(noTree("/"))]]),
    results,
    policy: { retries: 0, retriesFailures: false, reassignAfterMs: null },
    matching: "id",
    rerun: "none",
    onEvent: (event) => events.push(event),
    fleet: new Fleet(({ address }, signal) => connect(address, signal)),
    ...own,
  });
  const finished = run.finish();
  finished.catch(() => {});
  const of = <K extends RunEvent["kind"]>(kind: K) =>
    events.filter((event): event is Extract<RunEvent, { kind: K }> => event.kind === kind);
  return {
    run,
    events,
    of,
    collected: async (count) => {
      await until(`${count} results are here`, () => of("job-collected").length >= count);
    },
    end: async () => {
      run.emit({ kind: "jobs-complete" });
      await finished;
    },
    leave: async () => {
      run.abandon(new Error("left"));
      await finished.catch(() => {});
    },
  };
}
