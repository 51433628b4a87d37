// Plays a large batch with simulated machines from its first decision to its last: once with plan/ alone, and once with
// the client's whole loop and its reporter. No ssh, no disk.

import type { Decision, VerbNews } from "../src/model/decision.js";
import type { RunEvent } from "../src/model/event.js";
import type { Job } from "../src/model/job.js";
import { decide } from "../src/plan/decide.js";
import { apply } from "../src/plan/fold/apply.js";
import { initialState } from "../src/plan/fold/initial-state.js";
import { isOver } from "../src/plan/remaining.js";
import { countJobs, machineOf, type RunState } from "../src/plan/run-state.js";
import { takeStock } from "../src/plan/stock.js";
import { type Emit, makeLoop } from "../src/run/loop.js";
import { silentReporter } from "./silent-view.js";
import { SimulatedMachines } from "./simulated-machines.js";

const POLICY = { retries: 2, retriesFailures: false, reassignAfterMs: 600_000 };
const SETTINGS = {
  requirement: { cpus: 1, memoryMb: 1, gpu: null, reservesMachine: false },
  timeoutSeconds: null,
  inPlace: null,
  copyForward: [],
  copyBack: [],
  copiesUnchanged: false,
  envNames: [],
};

export interface Batch {
  readonly jobs: readonly Job[];
  readonly machines: number;
  readonly slots: number;
  /** If false, all events of one simulated millisecond are processed at once. */
  readonly isEachAlone: boolean;
}

export interface Played {
  /** Of this process, user and system. */
  readonly cpuMs: number;
  readonly wallMs: number;
  /** From the parsed jobs until the first job is assigned, with machines that answer at once. */
  readonly firstAssignMs: number;
  readonly events: number;
  /** Counted per job: one decision to collect ten jobs counts as ten. */
  readonly decisions: number;
  /** How often events were applied and the next step was decided. */
  readonly turns: number;
}

/** Does what the loop does, without promises, record and reporter: apply, decide, begin. */
export function playPlan(batch: Batch): Played {
  const meter = startMeter();
  const { state, machines } = newRun(batch);
  let inbox: (RunEvent | VerbNews)[] = [];
  const emit: Emit = (news) => inbox.push({ ...news, at: machines.now() } as RunEvent);
  do {
    const items = inbox;
    inbox = [];
    for (const item of items) {
      apply(state, item);
      meter.noteEvent(item);
    }
    meter.noteTurn(items.length);
    takeStock(state.stock, machines.now());
    const { news, verbs } = decide(state, machines.now());
    for (const each of news) emit(each);
    for (const decision of verbs) {
      meter.note(decision);
      apply(state, { kind: "verb-begun", decision, at: machines.now() });
      machines.start(decision, emit, () => inbox.push({ kind: "verb-ended", decision, at: machines.now() }));
    }
  } while (inbox.length > 0 || (!isOver(state, machines.now()) && machines.step(batch.isEachAlone)));
  return finish(state, batch, meter);
}

/** `onEvent` is called when an event has been applied and shown. */
export async function playLoop(batch: Batch, onEvent: (event: RunEvent) => void = () => {}): Promise<Played> {
  const meter = startMeter();
  const { state, machines, names } = newRun(batch);
  const reporter = silentReporter(names);
  let events = 0;
  const loop = makeLoop({
    state,
    perform: (decision, emit) => {
      meter.note(decision);
      return new Promise((resolve) => machines.start(decision, emit, resolve));
    },
    record: {
      append: (appended) => {
        events += appended.length;
      },
      sync: () => {
        meter.noteTurn(events);
        events = 0;
      },
    },
    onEvent: (event, isNews) => {
      meter.noteEvent(event);
      reporter.show(event, { state, isNews });
      onEvent(event);
    },
    now: machines.now,
  });
  const about = { batch: "jobs.sh-0", script: "jobs.sh", machines: [], settings: SETTINGS };
  loop.emit({ kind: "run-started", jobs: batch.jobs, ...about });
  const step = () => machines.step(batch.isEachAlone) && setImmediate(step);
  setImmediate(step);
  await loop.run();
  reporter.close();
  return finish(state, batch, meter);
}

function newRun({ jobs, machines: count, slots }: Batch) {
  const names = Array.from({ length: count }, (_, n) => `machine-${n}.yaml`);
  const state = initialState({ jobs, machines: names, policy: POLICY });
  const machines = new SimulatedMachines({
    names,
    slots,
    attemptOn: (name, id) => machineOf(state, name).attempts.get(id)?.number ?? 0,
  });
  return { names, state, machines };
}

type Meter = ReturnType<typeof startMeter>;

function startMeter() {
  const begun = performance.now();
  const cpu = process.cpuUsage();
  const counts = { events: 0, decisions: 0, turns: 0, firstAssignMs: Number.NaN };
  return {
    /** An assignment is also a decision, although it is only an event. */
    noteEvent(event: RunEvent | VerbNews): void {
      if (event.kind !== "jobs-assigned") return;
      if (Number.isNaN(counts.firstAssignMs)) counts.firstAssignMs = performance.now() - begun;
      counts.decisions += event.jobs.length;
    },
    note(decision: Decision): void {
      if ("jobs" in decision) counts.decisions += decision.jobs.length;
      if ("attempts" in decision) counts.decisions += decision.attempts.length;
    },
    noteTurn(events: number): void {
      counts.turns++;
      counts.events += events;
    },
    read(): Played {
      const { user, system } = process.cpuUsage(cpu);
      return { cpuMs: (user + system) / 1000, wallMs: performance.now() - begun, ...counts };
    },
  };
}

function finish(state: RunState, { jobs }: Batch, meter: Meter): Played {
  const played = meter.read();
  const { succeeded } = countJobs(state);
  if (succeeded !== jobs.length) throw new Error(`${succeeded} of ${jobs.length} jobs are done`);
  return played;
}
