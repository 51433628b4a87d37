// A run for tests of the state and the decisions, with short forms of events.

import { expect } from "vitest";
import type { Attempt } from "../../../src/model/attempt.js";
import { parseAttemptKey } from "../../../src/model/attempt-key.js";
import type { BatchSettings } from "../../../src/model/batch.js";
import type { Fate } from "../../../src/model/batch-state.js";
import type { Decision, DecisionKind } from "../../../src/model/decision.js";
import type { News, RunEvent } from "../../../src/model/event.js";
import type { Job, Outcome } from "../../../src/model/job.js";
import { attemptsOf } from "../../../src/model/standing.js";
import { decide } from "../../../src/plan/decide.js";
import { apply } from "../../../src/plan/fold/apply.js";
import { initialState } from "../../../src/plan/fold/initial-state.js";
import { isOver } from "../../../src/plan/remaining.js";
import type { Policy, RunState } from "../../../src/plan/run-state.js";
import { takeStock } from "../../../src/plan/stock.js";
import { aCapacity } from "./a-machine.js";

export const SUCCESS: Outcome = { kind: "exited", code: 0 };
export const FAILURE: Outcome = { kind: "exited", code: 1 };
export const LOST: Outcome = { kind: "lost", reason: "it went down with its machine" };

/** What `decisions` gives if these attempts are freed, named by their keys. */
export function freeing(machine: string, ...keys: string[]) {
  const attempts = keys.map((key) => {
    const { job, attempt } = parseAttemptKey(key);
    return expect.objectContaining({ job, number: attempt, machine });
  });
  return { kind: "free", machine, attempts };
}

export interface ARun {
  readonly state: RunState;
  /** The time of the next event and decision. */
  at: number;
  tell(...news: News[]): void;
  /** The verbs that would be decided now, of one kind or all. */
  decisions(kind?: DecisionKind): Decision[];
  /** The news that would be decided now, of one kind or all. */
  news(kind?: News["kind"]): News[];
  /** Begins every verb that is decided, and returns it. */
  begin(): Decision[];
  settle(decision: Decision): void;
  isOver(): boolean;
  /** Its fate, or the stage of its current attempt with its machine. */
  job(line: number): Fate | Record<string, unknown> | undefined;
  attempts(line: number): readonly Attempt[];
}

export interface RunFacts {
  readonly jobs: number;
  /** Name to slots. All machines have answered. */
  readonly machines: Readonly<Record<string, number>>;
  readonly policy?: Partial<Policy>;
  /** Machines whose spools an older version made: they get no jobs. */
  readonly older?: readonly string[];
}

/** All machines have answered, and nothing is assigned yet. */
export function aRun(facts: RunFacts): ARun {
  const { machines } = facts;
  const run = aNewRun(facts);
  for (const [name, slots] of Object.entries(machines)) {
    for (const connect of run.decisions("connect").filter(({ machine }) => machine === name)) {
      apply(run.state, { kind: "verb-begun", decision: connect, at: run.at });
      run.tell(ready(name, slots));
      run.settle(connect);
    }
  }
  return run;
}

/** No machine has been asked yet. */
export function aNewRun({ jobs, machines, policy, older = [] }: RunFacts): ARun {
  const all = Array.from({ length: jobs }, (_, n) => ({
    id: n + 1,
    line: n + 1,
    name: `jobs.sh.${n + 1}`,
    command: "true",
  }));
  const rules = { retries: 2, retriesFailures: false, reassignAfterMs: 600_000, ...policy };
  const state = initialState({
    jobs: all,
    machines: Object.keys(machines),
    policy: rules,
    closed: older,
    formats: new Map(older.map((name) => [name, 1])),
  });
  const plan = () => {
    takeStock(state.stock, run.at);
    return decide(state, run.at);
  };
  const run: ARun = {
    state,
    at: 0,
    tell(...news) {
      for (const each of news) apply(state, { ...each, at: run.at } as RunEvent);
    },
    decisions(kind) {
      return plan().verbs.filter((decision) => kind === undefined || decision.kind === kind);
    },
    news(kind) {
      return plan().news.filter((each) => kind === undefined || each.kind === kind);
    },
    begin() {
      const { verbs } = plan();
      for (const decision of verbs) apply(state, { kind: "verb-begun", decision, at: run.at });
      return [...verbs];
    },
    settle: (decision) => apply(state, { kind: "verb-ended", decision, at: run.at }),
    isOver() {
      takeStock(state.stock, run.at);
      return isOver(state, run.at);
    },
    attempts(line) {
      const tracked = state.jobs.get(line);
      return tracked === undefined ? [] : attemptsOf(tracked);
    },
    job(line) {
      const fate = state.jobs.get(line)?.fate;
      if (fate?.kind !== "tried") return fate;
      const { machine, stage } = fate;
      return { machine, ...stage };
    },
  };
  return run;
}

/** No decision depends on them. */
const SETTINGS = {
  requirement: { cpus: 1, memoryMb: 1, gpu: null, reservesMachine: false },
  timeoutSeconds: null,
  inPlace: null,
  copyForward: [],
  copyBack: [],
  copiesUnchanged: false,
  envNames: [],
};

export function runStarted(jobs: readonly Job[] = [], more: Partial<BatchSettings> = {}): News {
  const settings = { ...SETTINGS, ...more };
  return { kind: "run-started", batch: "j-1", script: "jobs.sh", jobs, machines: [], settings };
}

export function ready(machine: string, slots: number): News {
  const list = Array.from({ length: slots }, (_, index) => ({ index, gpus: [] }));
  return { kind: "machine-ready", machine, capacity: aCapacity(), slots: list };
}

export const assigned = (machine: string, ...jobs: number[]): News => ({
  kind: "jobs-assigned",
  machine,
  jobs,
});
export const handedOver = (machine: string, ...jobs: number[]): News => ({
  kind: "jobs-handed-over",
  machine,
  jobs,
});
export const takenBack = (machine: string, jobs: number[], begun: number[] = []): News => ({
  kind: "jobs-taken-back",
  machine,
  jobs,
  begun,
});
export const started = (machine: string, job: number, attempt = 1): News => ({
  kind: "job-started",
  machine,
  job,
  attempt,
  slot: 0,
});
export const ended = (machine: string, job: number, outcome: Outcome = SUCCESS, attempt = 1): News => ({
  kind: "job-ended",
  machine,
  job,
  attempt,
  outcome,
  durationMs: 10,
});
export const collected = (machine: string, job: number, outcome: Outcome = SUCCESS, attempt = 1): News => ({
  kind: "job-collected",
  machine,
  job,
  attempt,
  outcome,
  files: 1,
  bytes: 1,
});
export const lost = (machine: string): News => ({ kind: "machine-lost", machine, reason: "cut" });
export const back = (machine: string): News => ({ kind: "machine-back", machine });
export const failed = (machine: string): News => ({
  kind: "machine-failed",
  machine,
  reason: "sick",
  hint: null,
});
export const interrupted = (mode: "drain" | "stop"): News => ({ kind: "interrupted", mode });

/** Assigned, sent and queued, in one step. */
export const given = (machine: string, ...jobs: number[]): News[] => [
  assigned(machine, ...jobs),
  handedOver(machine, ...jobs),
];
