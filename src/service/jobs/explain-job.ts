// Why a job of a queue waits: measured on its machines a moment ago.

import type { WaitingJob } from "../../api/queue-service.js";
import { reach } from "../../batch/machine/reach.js";
import type { MachineSpec } from "../../model/machine.js";
import type { Queue, QueueJob } from "../../model/queue.js";
import type { MeasuredMachine } from "../../plan/why/explain-waiting.js";
import { explainWaiting } from "../../plan/why/explain-waiting.js";
import type { WaitingNeed } from "../../plan/why/verdict.js";
import { probe } from "../../remote/probe/probe.js";
import { awayWords } from "../joined/joined-machines.js";
import { engineNeed } from "../queue/engine-job.js";
import type { House } from "../queue/generation-order.js";
import { hasCards, isAllLocal, isAway, machinesOf } from "../queue-machines.js";
import type { RunningQueue } from "../running-queues.js";
import type { ServiceDatabase } from "../store/open-database.js";

export interface Explaining {
  readonly db: ServiceDatabase;
  readonly house: House;
  readonly queue: Queue;
  readonly running: RunningQueue;
}

/** Further jobs take the same room as the first of their kind. */
const MOST_EARLIER = 200;

export async function explainJob(job: QueueJob, explaining: Explaining): Promise<WaitingJob> {
  const { db } = explaining;
  if (job.state !== "waiting") return { job, place: null, holds: [], room: null };
  const holds = holdsOf(job, explaining);
  const place = db.jobs.placeOf(job.queue, job.id);
  if (holds.length > 0) return { job, place, holds, room: null };
  const specs = await machinesOf(explaining.queue, explaining.house);
  const machines = await Promise.all(specs.map((spec) => measure(spec, job, explaining)));
  const need = needOf(job, explaining, specs);
  const batch = batchOf(explaining.running) ?? "";
  const room = explainWaiting({ batch, placing: undefined, need, machines, leftMs: new Map() });
  return { job, place, holds, room };
}

function holdsOf(job: QueueJob, { db, queue, running }: Explaining): string[] {
  const open = job.after.filter(({ job: id }) => {
    const state = db.jobs.find(job.queue, id)?.state;
    return state === "waiting" || state === "running";
  });
  return [
    ...(queue.isPaused ? [`the queue ${queue.name} is paused: sshoal queue resume ${queue.name}`] : []),
    ...(job.isHeld ? [`it is held: sshoal release ${job.queue}/${job.id}`] : []),
    ...open.map(({ job: id, when }) => `it begins when job ${id} has ${WORDS[when]}`),
    ...(running.obstacle() === null ? [] : [running.obstacle() as string]),
  ];
}

const WORDS = { succeeded: "succeeded", ended: "ended", failed: "failed" } as const;

async function measure(spec: MachineSpec, job: QueueJob, explaining: Explaining): Promise<MeasuredMachine> {
  const { house, db } = explaining;
  if (db.machines.of(job.queue).some(({ machine, isDraining }) => isDraining && machine === spec.name))
    return { kind: "drained", machine: spec.name };
  if (isAway(spec, house))
    return { kind: "unreachable", machine: spec.name, reason: awayWords(spec.name), sinceMs: null };
  const connect = async (machine: Pick<MachineSpec, "address">, signal: AbortSignal) =>
    (await house.fleet.borrow(machine, signal)).session;
  const reached = await reach(spec, connect, (session, signal) =>
    probe(session, { bases: ["~/.sshoal"], wantsHolders: true }, signal),
  );
  if (reached.kind === "unreached")
    return { kind: "unreachable", machine: spec.name, reason: reached.reason, sinceMs: null };
  return { kind: "measured", spec, capacity: reached.answer, earlier: earlierOf(job, explaining, spec) };
}

function batchOf({ runner }: RunningQueue): string | null {
  return runner.generations.at(-1)?.batch ?? null;
}

function needOf(
  job: QueueJob,
  { queue, house, running }: Explaining,
  specs: readonly MachineSpec[],
): WaitingNeed {
  const isLocal = isAllLocal(running.runner.specs);
  const requirement = engineNeed(job, queue, { hasCards: hasCards(queue.name, specs, house), isLocal });
  return { key: `${job.id}`, requirement, count: 1 };
}

function earlierOf(job: QueueJob, explaining: Explaining, spec: MachineSpec): WaitingNeed[] {
  const first = explaining.db.jobs.firstWaiting(job.queue, MOST_EARLIER);
  const place = first.findIndex(({ id }) => id === job.id);
  const before = (place === -1 ? first : first.slice(0, place)).filter(({ isHeld }) => !isHeld);
  return before.map((each) => needOf(each, explaining, [spec]));
}
