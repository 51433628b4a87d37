// A followed batch as the API shows it: a queue whose jobs come from a file.

import path from "node:path";
import { machinePhase, runningOn } from "../../api/machine-facts.js";
import type {
  Health,
  MachineAct,
  QueueInfo,
  QueueMachine,
  QueueService,
  WaitingJob,
} from "../../api/queue-service.js";
import { Refusal } from "../../api/refusal.js";
import { UserError } from "../../errors.js";
import type { TrackedJob } from "../../model/batch-state.js";
import { countWords } from "../../model/batch-status.js";
import type { RunEvent } from "../../model/event.js";
import type { JobId } from "../../model/job.js";
import type { Act, Acted, JobQuery, QueueJob } from "../../model/queue.js";
import type { QueueEvent } from "../../model/queue-event.js";
import { wordOf } from "../../model/standing.js";
import { VERSION } from "../../model/version.js";
import { startsNothing } from "../../plan/halt.js";
import { drainIn, undrainIn } from "../follow/steer-run.js";
import { Awaited } from "../follower/awaited.js";
import { loadLastLines } from "../output/last-words.js";
import { recentReasons } from "../output/look-closer.js";
import { actOnBatch, setBatchPaused } from "./act-on-batch.js";
import { BatchEvents } from "./batch-events.js";
import { type JobFacts, queueJob } from "./batch-job.js";
import { explainFollowed } from "./explain-followed.js";
import { findJobs } from "./find-jobs.js";
import type { FollowedBatch } from "./followed-batch.js";

/** The last lines of failed jobs are read from their files: not those of more jobs than a page shows. */
const MOST_TAILS = 200;

export class BatchQueue implements QueueService {
  readonly #batch: FollowedBatch;
  readonly #startedAt: number;
  readonly #events: BatchEvents;
  readonly #awaited = new Awaited();

  constructor(batch: FollowedBatch, startedAt: number) {
    this.#batch = batch;
    this.#startedAt = startedAt;
    const jobOf = (tracked: TrackedJob) => queueJob(tracked, this.#facts(), Date.now());
    this.#events = new BatchEvents(
      { batch: batch.run.batch, state: () => batch.run.state, jobOf },
      Date.now(),
    );
  }

  /** Call it for every event of the run, after it was applied. */
  note(event: RunEvent): void {
    this.#events.note(event);
    this.#awaited.note(event);
  }

  get health(): Health {
    const { run, order, pid } = this.#batch;
    const { results, stem } = order();
    return {
      pid,
      version: VERSION,
      startedAt: this.#startedAt,
      seq: this.#events.last,
      database: path.join(results.privateDir, `${stem}.jsonl`),
      refuses: "the jobs of a batch come from its file",
      batch: run.batch,
    };
  }

  queues(): readonly QueueInfo[] {
    const { run, order } = this.#batch;
    const { machines, settings, results } = order();
    const jobs = findJobs(run.state, {});
    return [
      {
        name: run.batch,
        capacity: null,
        machines: machines.map(({ name }) => name),
        cwd: path.dirname(results.dir),
        prefix: [],
        envNames: settings.envNames ?? [],
        maxJobs: null,
        ahead: null,
        notify: null,
        joined: [],
        runsHere: machines.every(({ address }) => address.kind === "local"),
        isPaused: startsNothing(run.state),
        createdAt: run.state.life.stretches[0]?.from ?? this.#startedAt,
        counts: { ...countWords(jobs.map((tracked) => ({ state: wordOf(tracked) }))), held: 0 },
      },
    ];
  }

  jobs(query: JobQuery): readonly QueueJob[] {
    if (query.queue !== undefined) this.#check(query.queue);
    const facts = this.#facts();
    const now = Date.now();
    const jobs = findJobs(facts.state, query).map((tracked) => queueJob(tracked, facts, now));
    return jobs.length > MOST_TAILS ? jobs : jobs.map((job) => this.#withTail(job));
  }

  job(queue: string, id: JobId): QueueJob {
    this.#check(queue);
    const [job] = this.jobs({ ids: [id] });
    if (job !== undefined) return job;
    throw new UserError(`there is no job ${queue}/${id}`, { hint: "sshoal status" });
  }

  async act(asked: Act): Promise<Acted> {
    this.#check(asked.queue);
    return actOnBatch(asked, this.#batch, this.#awaited);
  }

  async setPaused(name: string | null, isPaused: boolean): Promise<void> {
    if (name !== null) this.#check(name);
    await setBatchPaused(isPaused, this.#batch, this.#awaited);
  }

  logPath(queue: string, id: JobId, stream: "out" | "err"): string {
    return this.#batch.order().results.streamPath(this.job(queue, id).name ?? "", stream);
  }

  async why(queue: string, id: JobId): Promise<WaitingJob> {
    return explainFollowed(this.job(queue, id), this.#batch);
  }

  machines(): readonly QueueMachine[] {
    const { run, recent } = this.#batch;
    const reasons = new Map(
      recent.events.flatMap((event) =>
        event.kind === "machine-lost" || event.kind === "machine-failed"
          ? [[event.machine, event.reason]]
          : [],
      ),
    );
    return [...run.state.machines.values()].map((machine) => ({
      queue: run.batch,
      machine: machine.name,
      phase: machinePhase(machine),
      isDraining: !machine.isOpen,
      capacity: recent.capacities.get(machine.name) ?? null,
      slots: machine.slots,
      running: runningOn(machine),
      reason: reasons.get(machine.name) ?? null,
    }));
  }

  async actOnMachine({ verb, queue, machine }: MachineAct): Promise<void> {
    this.#check(queue);
    if (verb === "add" || verb === "remove")
      throw new Refusal(405, "the machines of a followed batch come from its command", {
        hint: "type the command again, with other --machines",
      });
    const { run } = this.#batch;
    await run.begun;
    await (verb === "drain" ? drainIn : undrainIn)(run, machine);
  }

  async join(): Promise<never> {
    throw new Refusal(405, "the machines of a followed batch come from its command", {
      hint: "the queue service takes machines that join: sshoal serve",
    });
  }

  async createQueue(): Promise<never> {
    throw noQueues();
  }

  async deleteQueue(): Promise<never> {
    throw noQueues();
  }

  async enqueue(): Promise<never> {
    throw new Refusal(405, "the jobs of a batch come from its file", {
      hint: "add lines to the file, and type its command again; or use a queue: sshoal enqueue",
    });
  }

  eventsAfter(seq: number, limit?: number): readonly QueueEvent[] | null {
    return this.#events.after(seq, limit);
  }

  onEvent(listener: (event: QueueEvent) => void): () => void {
    return this.#events.onEvent(listener);
  }

  async close(): Promise<void> {}

  #facts(): JobFacts {
    const { run, order, recent } = this.#batch;
    return { batch: run.batch, state: run.state, order: order(), reasons: recentReasons(recent.events) };
  }

  #withTail(job: QueueJob): QueueJob {
    if (job.state !== "failed") return job;
    const stream = job.terms.mergesOutput ? "out" : "err";
    return { ...job, stderrTail: loadLastLines(this.#batch.order().results, job.name ?? "", stream) };
  }

  #check(queue: string): void {
    const { batch } = this.#batch.run;
    if (queue !== batch)
      throw new UserError(`there is no queue ${queue}`, { hint: `the batch that is followed is ${batch}` });
  }
}

function noQueues(): Refusal {
  return new Refusal(405, "a followed batch is one queue, and there are no others", {
    hint: "the queue service has queues: sshoal serve",
  });
}
