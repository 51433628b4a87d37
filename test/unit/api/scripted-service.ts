// A queue service that does what a test says, and remembers what it was asked. It keeps its jobs in a list.

import type { QueueInfo, QueueMachine, QueueService } from "../../../src/api/queue-service.js";
import { UserError } from "../../../src/errors.js";
import type { QueueCounts, QueueJob } from "../../../src/model/queue.js";
import type { QueueEvent } from "../../../src/model/queue-event.js";
import { JOB_WORDS } from "../../../src/model/standing.js";
import { aQueue } from "../service/new-job.js";

const AT = 1760000000000;

export function aQueueJob(changes: Partial<QueueJob> = {}): QueueJob {
  return {
    queue: "default",
    id: 1,
    name: null,
    command: "python train.py",
    cwd: "/home/ada/exp",
    need: { cpus: 1, memoryMb: 0, gpu: null, reservesMachine: false },
    priority: 0,
    after: [],
    terms: {},
    state: "waiting",
    isHeld: false,
    isHere: false,
    attempt: 0,
    machine: null,
    got: {},
    reason: null,
    enqueuedAt: AT,
    startedAt: null,
    endedAt: null,
    durationMs: null,
    outcome: null,
    footprint: null,
    stderrTail: null,
    results: "/home/ada/results/1",
    ...changes,
  };
}

export function aQueueInfo(changes: Partial<QueueInfo> = {}): QueueInfo {
  const counts = Object.fromEntries([...JOB_WORDS, "held"].map((word) => [word, 0])) as QueueCounts;
  return {
    ...aQueue(),
    isPaused: false,
    createdAt: AT,
    joined: [],
    pool: "default",
    alsoHere: false,
    runsHere: true,
    counts,
    ...changes,
  };
}

export function aQueueMachine(changes: Partial<QueueMachine> = {}): QueueMachine {
  return {
    queue: "default",
    machine: "gpu1",
    phase: "ready",
    isDraining: false,
    capacity: null,
    slots: 4,
    running: [],
    reason: null,
    ...changes,
  };
}

export function anEvent(seq: number, changes: Partial<QueueEvent> = {}): QueueEvent {
  return { seq, at: AT + seq, kind: "job-added", queue: "default", job: seq, ...changes };
}

/** What it was asked to do, in order: the name of the method, then its arguments. */
type Asked = readonly [string, ...unknown[]];

export interface ScriptedService extends QueueService {
  readonly asked: Asked[];
  readonly listed: QueueJob[];
  readonly known: QueueInfo[];
  events: QueueEvent[];
  /** The first event that is kept. */
  firstSeq: number;
  refuses: string | null;
  /** Thrown by every call that changes something; null: none. */
  failure: Error | null;
  logs: string;
  emit(event: QueueEvent): void;
  listenerCount(): number;
}

export function scriptedService(): ScriptedService {
  const listeners = new Set<(event: QueueEvent) => void>();
  const change = async <T>(name: string, args: readonly unknown[], result: T): Promise<T> => {
    service.asked.push([name, ...args]);
    if (service.failure !== null) throw service.failure;
    return result;
  };
  const service: ScriptedService = {
    asked: [],
    listed: [],
    known: [aQueueInfo()],
    events: [],
    firstSeq: 1,
    refuses: null,
    failure: null,
    logs: "/nowhere",
    get health() {
      const seq = service.events.at(-1)?.seq ?? 0;
      return {
        pid: process.pid,
        version: "0.0.0-test",
        startedAt: AT,
        seq,
        database: "queue.db",
        refuses: service.refuses,
      };
    },
    queues: () => service.known,
    createQueue: (spec, env) => change("createQueue", [spec, env], aQueueInfo({ ...spec })),
    deleteQueue: (...args) => change("deleteQueue", args, undefined),
    setPaused: (...args) => change("setPaused", args, undefined),
    enqueue: (asked) =>
      change("enqueue", [asked], { queue: asked.queue, ids: asked.jobs.map((_, index) => index + 1) }),
    jobs(query) {
      service.asked.push(["jobs", query]);
      return service.listed.filter(
        ({ queue, id, state }) =>
          (query.queue ?? queue) === queue &&
          (query.ids?.includes(id) ?? true) &&
          (query.states?.includes(state) ?? true),
      );
    },
    job(queue, id) {
      const found = service.listed.find((each) => each.queue === queue && each.id === id);
      if (found === undefined)
        throw new UserError(`there is no job ${queue}/${id}`, { hint: "sshoal queue" });
      return found;
    },
    act: (asked) =>
      change("act", [asked], { jobs: asked.ids.map((id) => ({ id, state: "stopped" as const })) }),
    logPath: (_queue, _id, stream) => `${service.logs}.${stream}`,
    why: async (queue, id) => ({
      job: service.job(queue, id),
      place: 1,
      holds: ["it comes after job 1"],
      room: null,
    }),
    machines: () => [aQueueMachine()],
    actOnMachine: (asked) => change("actOnMachine", [asked], undefined),
    join: (asked) =>
      change("join", [asked], { key: Buffer.from("a key"), take: (stream) => stream.end("hello") }),
    eventsAfter(seq, limit) {
      if (seq + 1 < service.firstSeq) return null;
      return service.events.filter((event) => event.seq > seq).slice(0, limit);
    },
    onEvent(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    emit(event) {
      service.events.push(event);
      for (const listener of [...listeners]) listener(event);
    },
    listenerCount: () => listeners.size,
    close: async () => {},
  };
  return service;
}
