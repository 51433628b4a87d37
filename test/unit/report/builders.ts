// Events and views for the tests of report/, with defaults for facts that do not matter to a test.

import type { BatchSettings } from "../../../src/model/batch.js";
import { newMachine } from "../../../src/model/batch-state.js";
import type { JobStarted, RunEvent } from "../../../src/model/event.js";
import type { Job, Outcome } from "../../../src/model/job.js";
import type { Capacity, Gpu, Slot } from "../../../src/model/machine.js";
import { apply } from "../../../src/plan/fold/apply.js";
import { initialState } from "../../../src/plan/fold/initial-state.js";
import type { RunState } from "../../../src/plan/run-state.js";
import { applyToView, newView, type ViewState } from "../../../src/report/live/view-state.js";
import type { Reporter, Sources } from "../../../src/report/reporter.js";
import { aGpu as anyGpu } from "../plan/a-machine.js";

export const SUCCESS: Outcome = { kind: "exited", code: 0 };
export const FAILURE: Outcome = { kind: "exited", code: 1 };

export const CAPACITY: Capacity = {
  hostname: "box",
  identity: "",
  shell: "bash",
  cpus: { total: 8, free: 7 },
  memory: { totalMb: 64000, freeMb: 60000 },
  gpus: [],
  gpuProblem: null,
  claims: [],
};

export function aGpu(index: number): Gpu {
  return anyGpu({ index, name: "RTX 4090", memoryTotalMb: 24564 });
}

/** One slot per list of cards. */
export function slotsWith(...gpus: number[][]): Slot[] {
  return gpus.map((indices, index) => ({ index, gpus: indices.map(aGpu) }));
}

export function someJobs(count: number, changes: Partial<Job> = {}): Job[] {
  return Array.from({ length: count }, (_, index) => {
    const line = index + 1;
    return { id: line, line, name: `batch.sh.${line}`, command: `echo ${line}`, ...changes };
  });
}

/** Reports show none of these. */
export const SETTINGS: BatchSettings = {
  requirement: { cpus: 1, memoryMb: 7000, gpu: null, reservesMachine: false },
  timeoutSeconds: null,
  inPlace: null,
  copyForward: ["."],
  copyBack: ["."],
  copiesUnchanged: false,
  envNames: [],
};

export const started = (jobs: readonly Job[], at = 0): RunEvent => ({
  kind: "run-started",
  at,
  batch: "b1",
  script: "batch.sh",
  jobs,
  machines: [],
  settings: SETTINGS,
});
export const ready = (machine: string, slots: readonly Slot[], at = 0): RunEvent => ({
  kind: "machine-ready",
  at,
  machine,
  capacity: CAPACITY,
  slots,
});
export const unreachable = (machine: string, reason = "connection refused"): RunEvent => ({
  kind: "machine-failed",
  at: 0,
  machine,
  reason,
  hint: `try: ssh ${machine}`,
});
export const assigned = (machine: string, jobs: readonly number[]): RunEvent => ({
  kind: "jobs-assigned",
  at: 0,
  machine,
  jobs,
});
export const jobStarted = (job: number, machine: string, slot: number, at = 0, attempt = 1): RunEvent => ({
  kind: "job-started",
  at,
  job,
  attempt,
  machine,
  slot,
});
export const jobSaid = (job: number, text: string): RunEvent => ({
  kind: "job-said",
  at: 0,
  job,
  text,
});
export const jobEnded = (
  job: number,
  outcome: Outcome = SUCCESS,
  durationMs = 1000,
  machine = "a.yaml",
): RunEvent => ({
  kind: "job-ended",
  at: 0,
  job,
  attempt: 1,
  machine,
  outcome,
  durationMs,
});
export const jobCollected = (job: number, at = 0, machine = "a.yaml"): RunEvent => ({
  kind: "job-collected",
  at,
  job,
  attempt: 1,
  machine,
  outcome: { kind: "exited", code: 0 },
  files: 1,
  bytes: 10,
});

/** Applies events as a client does, and reports each with its result. Returns which of them were news. */
export type Tell = (...events: RunEvent[]) => boolean[];

export function teller(show: Reporter["show"]): Tell {
  const state = initialState({ jobs: [], machines: [], policy: POLICY });
  const planned = new Map<string, readonly Slot[]>();
  return (...events) =>
    events.map((each) => {
      if (each.kind === "machine-ready") planned.set(each.machine, each.slots);
      const event = each.kind === "job-started" ? withCards(each, planned.get(each.machine)) : each;
      prepare(state, event);
      const isNews = apply(state, event);
      show(event, { state, isNews });
      return isNews;
    });
}

const POLICY = { retries: 0, retriesFailures: false, reassignAfterMs: null };

/** Unless a test names others, a job gets the cards that were planned for its slot. */
function withCards(event: JobStarted & { readonly at: number }, slots: readonly Slot[] = []): RunEvent {
  const gpus = slots.find(({ index }) => index === event.slot)?.gpus.map(({ index }) => String(index)) ?? [];
  return event.gpus !== undefined || gpus.length === 0 ? event : { ...event, gpus };
}

/** Adds what tests leave out: that the machine exists, and that it was given the job. */
function prepare(state: RunState, event: RunEvent): void {
  if (!("machine" in event)) return;
  const { machine } = event;
  if (!state.machines.has(machine)) state.machines.set(machine, newMachine(machine, state.machines.size));
  if (event.kind === "jobs-handed-over") for (const line of event.jobs) give(state, machine, line, 1);
  if ("attempt" in event) give(state, machine, event.job, event.attempt);
}

function give(state: RunState, machine: string, line: number, attempt: number): void {
  const tracked = state.jobs.get(line);
  if (tracked === undefined || tracked.lastNumber >= attempt) return;
  apply(state, { kind: "jobs-assigned", at: 0, machine, jobs: [line], attempts: [attempt] });
}

/** For a batch whose jobs printed nothing. */
export const SOURCES: Omit<Sources, "machines"> = {
  devicesOf: () => ({}),
  lastWordsOf: () => "",
  nextCommands: ({ failed, isUnfinished }) => [
    ...failed.slice(0, 1).map(({ name }) => `logs ${name}`),
    ...(isUnfinished ? ["attach"] : []),
    "results",
  ],
};

export function aView(
  machines: readonly string[],
  events: readonly RunEvent[],
  sources: Partial<Sources> = {},
) {
  const view = newView(machines, { ...SOURCES, ...sources });
  const tell = teller((event, known) => applyToView(view, event, known));
  tell(...events);
  return { view, tell };
}

export function viewOf(
  machines: readonly string[],
  events: readonly RunEvent[],
  sources: Partial<Sources> = {},
): ViewState {
  return aView(machines, events, sources).view;
}

export function textSink(): { text: string; write(text: string): void } {
  return {
    text: "",
    write(text) {
      this.text += text;
    },
  };
}
