// One run of a batch: its record, its state and its loop, from the first event to the last.

import { randomBytes } from "node:crypto";
import path from "node:path";
import type { RunEvent } from "../model/event.js";
import type { Job, Outcome } from "../model/job.js";
import type { MachineSpec } from "../model/machine.js";
import { countJobs, initialState, type RunState } from "../plan/state.js";
import { type Loop, makeLoop } from "./loop.js";
import { OutputFiles } from "./output-files.js";
import { Performer, type RunContext } from "./perform.js";
import { loadRecord, RunRecord } from "./record.js";
import type { Results } from "./results.js";

export interface BatchOrder
  extends Omit<RunContext, "batch" | "jobs" | "outputs" | "attemptOf" | "machines"> {
  readonly script: string;
  readonly jobs: readonly Job[];
  readonly machines: readonly MachineSpec[];
  readonly results: Results;
  readonly onEvent: (event: RunEvent) => void;
}

export interface BatchRun {
  /** Resolves with the state at the end. Rejects when abandoned. Closes every connection either way. */
  finish(): Promise<RunState>;
  readonly emit: Loop["emit"];
  /** Leaves everything to go on over there; finish() rejects with the reason. */
  abandon(reason: Error): void;
}

export function startRun(order: BatchOrder): BatchRun {
  const { jobs, machines, results, script, tree } = order;
  const stem = (jobs[0]?.name ?? "").replace(/\.\d+$/, "");
  const recordPath = path.join(results.privateDir, `${stem}.jsonl`);
  const past = loadRecord(recordPath);
  const record = new RunRecord(recordPath);
  const state = initialState(
    jobs,
    machines.map(({ name }) => name),
  );
  const batch = batchOf(past) ?? `${stem.slice(0, 60)}-${randomBytes(4).toString("hex")}`;
  const performer = new Performer({
    ...order,
    batch,
    jobs: new Map(jobs.map((job) => [job.line, job])),
    outputs: new OutputFiles(results),
    attemptOf: (line) => state.attempts.get(line) ?? 0,
  });
  const loop = makeLoop({ state, perform: performer.perform, record, onEvent: order.onEvent, now: Date.now });

  countAttempts(state, past);
  loop.emit({ kind: "run-started", batch, script, jobs });
  skipDone(loop, jobs, results, outcomesOf(past));
  const files = tree.entries.filter(({ type }) => type !== "Directory").length;
  loop.emit({ kind: "tree-read", files, bytes: tree.bytes, leftOut: tree.leftOut });

  const finish = async () => {
    try {
      await loop.run();
      loop.tell({ kind: "run-ended", counts: countJobs(state) });
      return state;
    } finally {
      await performer.close();
      record.close();
    }
  };
  return { finish, emit: loop.emit, abandon: loop.abandon };
}

function batchOf(past: readonly RunEvent[]): string | undefined {
  return past.find((event) => event.kind === "run-started")?.batch;
}

/** An attempt's number is never used twice in a batch, whoever removed what here meanwhile. */
function countAttempts(state: RunState, past: readonly RunEvent[]): void {
  for (const event of past) {
    if (event.kind !== "jobs-assigned") continue;
    for (const line of event.lines) state.attempts.set(line, (state.attempts.get(line) ?? 0) + 1);
  }
}

function outcomesOf(past: readonly RunEvent[]): Map<number, Outcome> {
  const ended = past.filter((event) => event.kind === "job-ended");
  return new Map(ended.map(({ line, outcome }) => [line, outcome]));
}

function skipDone(
  loop: Loop,
  jobs: readonly Job[],
  results: Results,
  outcomes: ReadonlyMap<number, Outcome>,
): void {
  for (const { line, name } of jobs) {
    if (results.has(name)) loop.emit({ kind: "job-skipped", line, outcome: outcomes.get(line) ?? null });
  }
}
