// What users do with jobs of a queue: stop, retry, remove, hold, release, and change their priority.

import { UserError } from "../../errors.js";
import type { JobId } from "../../model/job.js";
import { type Act, type Acted, HIGHEST_PRIORITY, isPriority, type QueueJob } from "../../model/queue.js";
import type { Ledger } from "../ledger.js";
import type { QueueRunner } from "../queue/queue-runner.js";
import type { ServiceDatabase } from "../store/open-database.js";
import { endJob, isOver, isQueueEmpty, reopenJob, whyNever } from "./job-ends.js";

export interface Actor {
  readonly db: ServiceDatabase;
  readonly ledger: Ledger;
  readonly runner: QueueRunner;
  /** Resolves when the job has ended or waits again. */
  readonly awaitEnd: (id: JobId) => Promise<void>;
}

/** How long a stop may take before the answer says that it goes on. A job gets ten seconds to end by itself. */
const PATIENCE_MS = 20_000;

type Answer = Acted["jobs"][number];

export async function actOnJobs(asked: Act, actor: Actor): Promise<Acted> {
  const { queue, ids } = asked;
  if (asked.verb === "stop") return { jobs: await stopJobs(queue, ids, actor) };
  const jobs = await actor.ledger.write((tell) =>
    ids.map((id): Answer => {
      const job = actor.db.jobs.find(queue, id);
      if (job === null) return { id, state: "removed", refused: `there is no job ${queue}/${id}` };
      const refused = reasonAgainst(asked, job) ?? (asked.verb === "remove" ? needed(job, actor) : null);
      if (refused !== null) return { id, state: job.state, refused };
      switch (asked.verb) {
        case "retry": {
          const never = whyNever(actor.db, job);
          if (never !== null) return { id, state: job.state, refused: never };
          reopenJob(actor.db, tell, queue, id);
          return { id, state: "waiting" };
        }
        case "remove":
          actor.db.jobs.remove(queue, [id]);
          tell({ kind: "job-removed", queue, job: id });
          return { id, state: "removed" };
        case "hold":
        case "release":
          actor.db.jobs.setHeld(queue, id, asked.verb === "hold");
          tell({ kind: "job-changed", queue, job: id, data: { isHeld: asked.verb === "hold" } });
          return { id, state: job.state };
        default:
          actor.db.jobs.setPriority(queue, id, asked.priority ?? 0);
          tell({ kind: "job-changed", queue, job: id, data: { priority: asked.priority } });
          return { id, state: job.state };
      }
    }),
  );
  // Machines have them: they must come back to begin later, or not at all.
  const changesStart = asked.verb === "hold" || asked.verb === "priority";
  if (changesStart && ids.some((id) => isHanded(id, actor.runner))) await actor.runner.recall();
  return { jobs };
}

function isHanded(id: JobId, runner: QueueRunner): boolean {
  const generation = runner.generationOf(id);
  return generation !== null && !generation.hasBegun(id);
}

/** Null: it can be done. */
function reasonAgainst({ verb, priority }: Act, { state }: QueueJob): string | null {
  switch (verb) {
    case "retry":
      return isOver(state) ? null : "it has not ended";
    case "remove":
      return state === "running" ? "it runs: stop it first" : null;
    case "hold":
    case "release":
      return state === "waiting" ? null : state === "running" ? "it runs" : "it is over";
    case "priority":
      if (!isPriority(priority))
        throw new UserError(`a priority is a whole number from -${HIGHEST_PRIORITY} to ${HIGHEST_PRIORITY}`, {
          hint: "sshoal priority 10 QUEUE/ID",
        });
      return state === "waiting" ? null : state === "running" ? "it runs" : "it is over";
    case "stop":
      return null;
    default:
      return verb satisfies never;
  }
}

/** Why a job cannot leave the record yet; null: it can. */
function needed({ queue, id, state }: QueueJob, { db, runner }: Actor): string | null {
  if (runner.generationOf(id) !== null) return "it is about to start: stop it first";
  if (isOver(state)) return null;
  const dependent = db.edges
    .dependentsOf(queue, id)
    .find(({ job }) => db.jobs.find(queue, job)?.state === "waiting");
  return dependent === undefined ? null : `job ${dependent.job} comes after it`;
}

async function stopJobs(queue: string, ids: readonly JobId[], actor: Actor): Promise<Answer[]> {
  const { db, ledger, runner } = actor;
  const given = ids.filter((id) => runner.generationOf(id) !== null);
  const isGiven = new Set(given);
  const waiting = ids.filter((id) => !isGiven.has(id));
  const answers = await ledger.write((tell) => {
    const stopped = waiting.map((id) => stopWaiting(queue, id, db, tell));
    const areAny = stopped.some(({ refused }) => refused === undefined);
    if (areAny && isQueueEmpty(db, queue)) tell({ kind: "queue-empty", queue });
    return stopped;
  });
  const ends = given.map(async (id): Promise<Answer> => {
    const isOverNow = isOver(db.jobs.find(queue, id)?.state ?? "stopped");
    if (!isOverNow) await endOf(id, actor);
    const state = db.jobs.find(queue, id)?.state ?? "removed";
    if (state === "removed" || isOver(state)) return { id, state };
    return { id, state, refused: "it is being stopped, and its machine has not answered yet" };
  });
  // Also those that were given meanwhile.
  for (const generation of runner.generations) generation.stop(ids);
  const all = new Map([...answers, ...(await Promise.all(ends))].map((each) => [each.id, each]));
  return ids.flatMap((id) => all.get(id) ?? []);
}

/** Also of a job whose machine is gone: after a while it counts as stopped. */
async function endOf(id: JobId, { awaitEnd, runner }: Actor): Promise<void> {
  const ended = awaitEnd(id);
  await inTime(ended);
  const generation = runner.generationOf(id);
  if (generation === null) return;
  generation.giveUp(id);
  if (!generation.has(id)) await inTime(ended);
}

function stopWaiting(
  queue: string,
  id: JobId,
  db: ServiceDatabase,
  tell: Parameters<typeof endJob>[1],
): Answer {
  const job = db.jobs.find(queue, id);
  if (job === null) return { id, state: "removed", refused: `there is no job ${queue}/${id}` };
  if (isOver(job.state)) return { id, state: job.state, refused: "it is over" };
  const ended = { at: Date.now(), durationMs: null, footprint: null, stderrTail: null, reason: null };
  endJob(db, tell, job, { state: "stopped", outcome: { kind: "stopped" }, ...ended });
  return { id, state: "stopped" };
}

function inTime(ended: Promise<void>): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, PATIENCE_MS);
    void ended.then(() => {
      clearTimeout(timer);
      resolve();
    });
  });
}
