// What the runner of a queue reads of the record, and writes into it.

import type { RunEvent } from "../../model/event.js";
import type { JobId } from "../../model/job.js";
import type { Queue, QueueJob } from "../../model/queue.js";
import { endingOf } from "../../model/standing.js";
import { unpooled } from "../../plan/queue/queue-need.js";
import { endJob, isOver, isQueueEmpty, runsAgain, takeBack } from "../jobs/job-ends.js";
import { fillOutFile } from "../jobs/out-file.js";
import type { Ledger } from "../ledger.js";
import type { ServiceDatabase } from "../store/open-database.js";
import type { House } from "./generation-order.js";
import type { EndFact, JobFact } from "./job-fact.js";
import type { RunnerBooks } from "./runner-books.js";

export interface Books {
  readonly name: string;
  readonly db: ServiceDatabase;
  readonly ledger: Ledger;
  readonly house: House;
  /** A job has ended, or waits again. */
  readonly onSettled: (job: QueueJob) => void;
}

export function queueBooks(books: Books): RunnerBooks & { readonly obstacle: () => string | null } {
  const { name, db, ledger, onSettled } = books;
  let obstacle: string | null = null;
  const settle = (id: JobId) => {
    const job = db.jobs.find(name, id);
    if (job !== null) onSettled(job);
  };
  const noteStarted = ({ job: id, machine, startedAt, got }: Extract<JobFact, { kind: "started" }>) =>
    ledger.record((tell) => {
      const job = db.jobs.find(name, id);
      // A service that was killed may have written it down before.
      if (job === null || job.state !== "waiting") return;
      const started = { machine, got: unpooled(got), at: startedAt, attempt: job.attempt + 1 };
      db.jobs.started(name, id, started);
      tell({ kind: "job-started", queue: name, job: id, data: { state: "running", ...started } });
    });
  const noteEnded = (fact: EndFact) => {
    ledger.record((tell) => {
      const job = db.jobs.find(name, fact.job);
      if (job === null || isOver(job.state)) return;
      const run = withStart(db, job, fact);
      // Without a machine it was no run, and the next one would end alike.
      if (fact.machine !== null && runsAgain(run, fact.outcome)) {
        takeBack(db, tell, name, [job.id]);
        const data = { state: "waiting", attempt: run.attempt, outcome: fact.outcome };
        return tell({ kind: "job-changed", queue: name, job: job.id, data });
      }
      const state = endingOf(fact.outcome);
      const { outcome, durationMs, footprint, stderrTail, problem } = fact;
      const reason = problem ?? (outcome.kind === "lost" ? outcome.reason : null);
      endJob(db, tell, run, { state, at: Date.now(), outcome, durationMs, footprint, stderrTail, reason });
      if (isQueueEmpty(db, name)) tell({ kind: "queue-empty", queue: name });
    });
    // After the record, because the next job may depend on this one.
    ledger.afterwards(() => settle(fact.job));
  };
  return {
    obstacle: () => obstacle,
    queue: () => queueNamed(db, name),
    heads: () => db.heads.of(name),
    take: (generation, choose) =>
      ledger.write(() => {
        const ids: JobId[] = [];
        for (let head = choose(); head !== null; head = choose()) {
          db.jobs.give(name, [head.id], generation);
          ids.push(head.id);
        }
        return ids.flatMap((id) => db.jobs.find(name, id) ?? []);
      }),
    givenTo: (generation) =>
      db.jobs.givenTo(generation).flatMap(({ job }) => (isOver(job.state) ? [] : [job])),
    isAsTaken: ({ id, priority }, generation) => {
      const known = db.jobs.findWithInside(name, id);
      if (known === null || known.job.state !== "waiting" || known.inside.given !== generation) return false;
      return !known.job.isHeld && known.job.priority === priority;
    },
    giveBack: (ids, generation) =>
      ledger.write((tell) => {
        const left = db.jobs.givenTo(generation).filter(({ job }) => job.state === "waiting");
        const back = left.map(({ job }) => job.id).filter((id) => ids.includes(id));
        takeBack(db, tell, name, back);
      }),
    insideOf: ({ id }) => {
      const inside = db.jobs.findWithInside(name, id)?.inside;
      const hash = inside?.environment ?? null;
      return { turns: inside?.turns ?? 0, env: hash === null ? {} : (db.secrets.load(hash) ?? {}) };
    },
    openGenerations: () => db.generations.open().flatMap(({ queue, id }) => (queue === name ? [id] : [])),
    beginGeneration: () => ledger.write(() => db.generations.begin(name, {}, Date.now()).id),
    endGeneration: (id) =>
      ledger.write((tell) => {
        // What it was given while it ended waits again.
        const left = db.jobs.givenTo(id).filter(({ job }) => job.state === "waiting");
        const ids = left.map(({ job }) => job.id);
        takeBack(db, tell, name, ids);
        db.generations.end(id, Date.now());
      }),
    noteFact: (fact) => {
      switch (fact.kind) {
        case "started":
          return noteStarted(fact);
        case "returned":
          ledger.record((tell) => {
            if (db.jobs.find(name, fact.job)?.state === "waiting") takeBack(db, tell, name, [fact.job]);
          });
          return ledger.afterwards(() => settle(fact.job));
        case "ended":
          return void bringOut(books, fact).finally(() => noteEnded(fact));
        default:
          return fact satisfies never;
      }
    },
    noteEvent: (event) => noteEvent(books, event),
    noteObstacle: (reason) => {
      if (reason !== null && reason !== obstacle)
        ledger.record((tell) => tell({ kind: "warning", queue: name, data: { message: reason } }));
      obstacle = reason;
    },
    isDraining: (machine) => db.machines.of(name).some((each) => each.machine === machine && each.isDraining),
  };
}

/** The service that learned of the start may have been killed before it wrote that down. */
function withStart(db: ServiceDatabase, job: QueueJob, { machine, durationMs }: EndFact): QueueJob {
  if (job.state !== "waiting" || machine === null) return job;
  const attempt = job.attempt + 1;
  db.jobs.started(job.queue, job.id, { machine, got: {}, at: Date.now() - (durationMs ?? 0), attempt });
  return { ...job, attempt };
}

function queueNamed(db: ServiceDatabase, name: string): Queue {
  const queue = db.queues.find(name);
  if (queue === null) throw new Error(`the record has no queue ${name}`);
  return queue;
}

/** Never rejects: that it cannot be written is reported. */
async function bringOut({ name, db, ledger }: Books, { job: id }: EndFact): Promise<void> {
  const job = db.jobs.find(name, id);
  const outFile = job?.terms.outFile;
  if (job === null || outFile === undefined) return;
  await fillOutFile(`${job.results}.out`, outFile).catch((error: Error) => {
    const message = `--out ${outFile}: ${error.message}; the output of ${name}/${id} is in ${job.results}.out`;
    ledger.record((tell) => tell({ kind: "warning", queue: name, job: id, data: { message } }));
  });
}

/** What watchers and later generations want to know of machines. */
function noteEvent({ name, db, ledger }: Books, event: RunEvent): void {
  switch (event.kind) {
    case "machine-ready": {
      const { machine, capacity, slots } = event;
      return ledger.record((tell) => {
        db.machines.measured(name, machine, capacity, event.at);
        tell({ kind: "machine-ready", queue: name, data: { machine, slots: slots.length } });
      });
    }
    case "machine-back":
    case "machine-draining":
    case "machine-opened": {
      const { kind, machine } = event;
      return ledger.record((tell) => tell({ kind, queue: name, data: { machine } }));
    }
    case "machine-lost":
    case "machine-failed": {
      const { kind, machine, reason } = event;
      return ledger.record((tell) => tell({ kind, queue: name, data: { machine, reason } }));
    }
    case "slot-waiting":
      return noteReason({ name, db, ledger }, event);
    case "warning":
      return ledger.record((tell) =>
        tell({ kind: "warning", queue: name, data: { message: event.message } }),
      );
    default:
      return;
  }
}

/** In the words of the machine: reports turn them into sentences. */
function noteReason(
  { name, db, ledger }: Pick<Books, "name" | "db" | "ledger">,
  { job: id, machine, reason }: Extract<RunEvent, { kind: "slot-waiting" }>,
): void {
  if (id === undefined) return;
  ledger.record((tell) => {
    const job = db.jobs.find(name, id);
    const text = `${machine} ${reason}`;
    if (job === null || job.state !== "waiting" || job.reason === text) return;
    db.jobs.setReason(name, id, text);
    tell({ kind: "job-changed", queue: name, job: id, data: { reason: text } });
  });
}
