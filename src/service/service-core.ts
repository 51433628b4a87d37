// The queue service itself: its queues, and a runner for each. It has no scheduler of its own: the engine of batches runs
// the jobs, on machines that need no service.

import { setTimeout as sleep } from "node:timers/promises";
import type {
  Health,
  JoinAsk,
  JoinDoor,
  MachineAct,
  QueueInfo,
  QueueMachine,
  QueueService,
  ServiceDisk,
  WaitingJob,
} from "../api/queue-service.js";
import { ExitCode, UserError } from "../errors.js";
import { suggest } from "../input/suggest.js";
import type { JobId } from "../model/job.js";
import {
  type Act,
  type Acted,
  type Capacities,
  DEFAULT_QUEUE,
  type Enqueue,
  type Enqueued,
  isQueueName,
  type JobQuery,
  type KeptQueue,
  type Queue,
  type QueueEvent,
  type QueueJob,
  type QueueSpec,
} from "../model/queue.js";
import { VERSION } from "../model/version.js";
import { actOnJobs } from "./act-on-jobs.js";
import { addJobs } from "./add-jobs.js";
import { explainJob } from "./explain-job.js";
import type { House } from "./generation-order.js";
import { runsAgain } from "./job-ends.js";
import { JobNotices } from "./job-notices.js";
import { joinQueues } from "./joined/join-queues.js";
import type { JoinedMachines } from "./joined/joined-machines.js";
import { Ledger } from "./ledger.js";
import type { Ending } from "./machine-sums.js";
import { machinesReport } from "./machines-report.js";
import { queueBooks } from "./queue-books.js";
import { machinesOf, measureUnknown, parseCard } from "./queue-machines.js";
import { QueueRunner } from "./queue-runner.js";
import type { RunningQueue } from "./running-queue.js";
import { openServiceDisk } from "./service-disk.js";
import { asDiskRefusal } from "./store/disk-refusal.js";
import type { ServiceDatabase } from "./store/open-database.js";

type OwnHouse = House & { readonly joined: JoinedMachines };

export interface CoreParts {
  readonly db: ServiceDatabase;
  readonly house: OwnHouse;
  /** What queues of this computer share that declare nothing; null: as it was. */
  readonly capacity: Capacities | null;
}

const MOST_CLOSING_MS = 10_000;

const DEFAULT_SPEC: QueueSpec = {
  name: DEFAULT_QUEUE,
  capacity: null,
  machines: [],
  cwd: null,
  prefix: [],
  envNames: [],
  maxJobs: null,
  ahead: null,
  notify: null,
};

export class ServiceCore implements QueueService {
  readonly disk: ServiceDisk;
  readonly #db: ServiceDatabase;
  readonly #house: OwnHouse;
  readonly #ledger: Ledger;
  readonly #queues = new Map<string, RunningQueue>();
  readonly #notices: JobNotices;
  /** Called when a job has ended or waits again, by QUEUE/ID. */
  readonly #awaited = new Map<string, Set<() => void>>();
  readonly #startedAt = Date.now();

  private constructor({ db, house }: Omit<CoreParts, "capacity">) {
    this.#db = db;
    this.#house = house;
    this.disk = openServiceDisk(house);
    this.#ledger = new Ledger(db, house.onBug);
    this.#notices = new JobNotices(db, this.#ledger, house);
  }

  /** Takes up what an earlier service left. */
  static async open(parts: CoreParts): Promise<ServiceCore> {
    const core = new ServiceCore(parts);
    if (parts.db.queues.find(DEFAULT_QUEUE) === null)
      await core.#ledger.write(() => parts.db.queues.add(DEFAULT_SPEC, null, Date.now()));
    const { capacity } = parts;
    if (capacity !== null) await core.#ledger.write(() => core.#share(capacity));
    for (const { name } of parts.db.queues.all()) await core.#begin(name);
    return core;
  }

  #share(capacity: Capacities): void {
    for (const queue of this.#db.queues.all())
      if (sharesPool(queue)) this.#db.queues.setSpec({ ...specOf(queue), capacity, pool: DEFAULT_QUEUE });
  }

  get health(): Health {
    return {
      pid: process.pid,
      version: VERSION,
      startedAt: this.#startedAt,
      seq: this.#db.events.last,
      database: this.#db.file,
      refuses: this.#ledger.refuses,
    };
  }

  queues(): readonly QueueInfo[] {
    return this.#db.queues.all().map((queue) => this.#infoOf(queue));
  }

  async createQueue(asked: QueueSpec, env: Readonly<Record<string, string>>): Promise<QueueInfo> {
    const { name } = asked;
    const spec = this.#withPool(asked);
    if (!isQueueName(name))
      throw new UserError(`the name ${JSON.stringify(name)} cannot be used for a queue`, {
        hint: "a name begins with a letter, and has letters, digits, -, _ and .",
      });
    const specs = await machinesOf(spec, this.#house);
    const hash = Object.keys(env).length === 0 ? null : this.#db.secrets.keep(env, Date.now());
    await this.#ledger.write((tell) => {
      if (this.#db.queues.find(name) !== null)
        throw new UserError(`there is a queue ${name} already`, {
          hint: `sshoal queue delete ${name}, or another name`,
        });
      this.#db.queues.add({ ...spec, envNames: Object.keys(env) }, hash, Date.now());
      tell({ kind: "queue-created", queue: name });
    });
    await measureUnknown(spec, specs, this.#house);
    await this.#begin(name);
    return this.#infoOf(this.#queueNamed(name));
  }

  #withPool(spec: QueueSpec): KeptQueue {
    const { capacity = null } = this.#db.queues.find(DEFAULT_QUEUE) ?? {};
    return sharesPool(spec) && capacity !== null ? { ...spec, capacity, pool: DEFAULT_QUEUE } : spec;
  }

  async deleteQueue(name: string, stops: boolean): Promise<void> {
    const queue = this.#queueNamed(name);
    if (name === DEFAULT_QUEUE)
      throw new UserError(`the queue ${DEFAULT_QUEUE} always exists`, {
        hint: `sshoal queue pause ${DEFAULT_QUEUE}`,
      });
    const open = this.#db.search.ids({ queue: name, states: ["waiting", "running"] });
    if (open.length > 0 && !stops)
      throw new UserError(`the queue ${name} has ${open.length} jobs that are not over`, {
        hint: `sshoal queue delete ${name} --stop stops them`,
      });
    await this.#ledger.write(() => this.#db.queues.setPaused(queue.name, true));
    await this.act({ verb: "stop", queue: name, ids: open });
    const running = this.#queues.get(name);
    this.#queues.delete(name);
    running?.runner.windDown();
    await running?.runner.ended();
    await this.#ledger.write((tell) => {
      this.#db.queues.remove(name);
      tell({ kind: "queue-deleted", queue: name });
    });
    this.#sweepSecrets();
  }

  async setPaused(name: string | null, isPaused: boolean): Promise<void> {
    const queues = name === null ? this.#db.queues.all() : [this.#queueNamed(name)];
    await this.#ledger.write((tell) => {
      this.#db.queues.setPaused(name, isPaused);
      for (const queue of queues)
        tell({ kind: isPaused ? "queue-paused" : "queue-resumed", queue: queue.name });
    });
    const runners = queues.flatMap((queue) => this.#queues.get(queue.name)?.runner ?? []);
    if (isPaused) await Promise.all(runners.map((runner) => runner.recall()));
    else for (const runner of runners) runner.wake();
  }

  async enqueue(asked: Enqueue): Promise<Enqueued> {
    const queue = this.#queueNamed(asked.queue);
    const added = await addJobs(asked, queue, { db: this.#db, ledger: this.#ledger, house: this.#house });
    this.#queues.get(queue.name)?.runner.wake();
    return added;
  }

  jobs(query: JobQuery): readonly QueueJob[] {
    return this.#asSeen(this.#db.search.find(query));
  }

  job(queue: string, id: JobId): QueueJob {
    this.#queueNamed(queue);
    const job = this.#db.jobs.find(queue, id);
    if (job === null) throw new UserError(`there is no job ${queue}/${id}`, { hint: `sshoal show ${queue}` });
    return this.#asSeen([job])[0] as QueueJob;
  }

  async act(asked: Act): Promise<Acted> {
    const { name } = this.#queueNamed(asked.queue);
    const { runner } = this.#running(name);
    const awaitEnd = (id: JobId) => this.#untilSettled(`${name}/${id}`);
    const acted = await actOnJobs(asked, { db: this.#db, ledger: this.#ledger, runner, awaitEnd });
    if (asked.verb === "remove") this.#sweepSecrets();
    runner.wake();
    return acted;
  }

  logPath(queue: string, id: JobId, stream: "out" | "err"): string {
    return `${this.job(queue, id).results}.${stream}`;
  }

  async why(queue: string, id: JobId): Promise<WaitingJob> {
    const job = this.job(queue, id);
    const running = this.#running(queue);
    return explainJob(job, { db: this.#db, house: this.#house, queue: this.#queueNamed(queue), running });
  }

  machines(): readonly QueueMachine[] {
    return this.#db.queues
      .all()
      .flatMap((queue) =>
        machinesReport(queue, this.#running(queue.name), { db: this.#db, house: this.#house }),
      );
  }

  join(asked: JoinAsk): Promise<JoinDoor> {
    return joinQueues(asked, {
      db: this.#db,
      ledger: this.#ledger,
      house: this.#house,
      queueNamed: (name) => this.#queueNamed(name),
      runnerOf: (name) => this.#queues.get(name)?.runner,
    });
  }

  async actOnMachine({ verb, queue: name, machine }: MachineAct): Promise<void> {
    const queue = this.#queueNamed(name);
    const { runner } = this.#running(name);
    const joined = queue.joined.filter((each) => each.name !== machine);
    if (verb === "remove" && joined.length < queue.joined.length) {
      await this.#ledger.write(() => {
        this.#db.queues.setSpec({ ...specOf(queue), joined });
        this.#db.machines.remove(name, machine);
      });
      runner.windDown();
      // Its running jobs end first.
      return void runner.ended().then(() => this.#dismiss(machine));
    }
    if (verb === "add" || verb === "remove") {
      const machines = machinesAfter(queue, verb, machine);
      const specs = await machinesOf({ ...queue, machines }, this.#house);
      await this.#ledger.write(() => this.#db.queues.setSpec({ ...specOf(queue), machines }));
      await measureUnknown(queue, specs, this.#house);
      return runner.windDown();
    }
    const known = (await machinesOf(queue, this.#house)).map((spec) => spec.name);
    const card = known.includes(machine) ? null : parseCard(machine);
    if (!known.includes(card?.machine ?? machine)) throw unknownMachine(queue, machine, known);
    const isDraining = verb === "drain";
    await this.#ledger.write((tell) => {
      this.#db.machines.setDraining(name, machine, isDraining);
      tell({ kind: isDraining ? "machine-draining" : "machine-opened", queue: name, data: { machine } });
    });
    // Slots learn of cards only when they are made.
    if (card === null) await runner.setDraining(machine, isDraining);
    else runner.windDown();
    runner.wake();
  }

  eventsAfter(seq: number, limit?: number): readonly QueueEvent[] | null {
    return this.#db.events.after(seq, limit);
  }

  onEvent(listener: (event: QueueEvent) => void): () => void {
    return this.#ledger.onEvent(listener);
  }

  async close(): Promise<void> {
    const closing = [...this.#queues.values()].map(({ runner }) => runner.close());
    // A machine that does not let go is left as by a kill: the next service goes on from the journals.
    const patience = new AbortController();
    const enough = sleep(MOST_CLOSING_MS, null, { signal: patience.signal }).catch(() => {});
    await Promise.race([Promise.all(closing), enough]);
    patience.abort();
    this.#ledger.close();
    this.#db.close();
  }

  #dismiss(machine: string): void {
    const isWanted = this.#db.queues.all().some(({ joined }) => joined.some(({ name }) => name === machine));
    if (!isWanted) this.#house.joined.dismiss(machine);
  }

  async #begin(name: string): Promise<void> {
    const books = queueBooks({
      name,
      db: this.#db,
      ledger: this.#ledger,
      house: this.#house,
      onSettled: (job) => this.#noteSettled(job),
    });
    const runner: QueueRunner = new QueueRunner(this.#house, books);
    this.#queues.set(name, { runner, obstacle: books.obstacle });
    await runner.resume();
  }

  #noteSettled(job: QueueJob): void {
    const word = `${job.queue}/${job.id}`;
    for (const resolve of this.#awaited.get(word) ?? []) resolve();
    this.#awaited.delete(word);
    this.#queues.get(job.queue)?.runner.wake();
    this.#notices.note(job);
  }

  #untilSettled(word: string): Promise<void> {
    return new Promise((resolve) => {
      const waiting = this.#awaited.get(word) ?? new Set();
      waiting.add(resolve);
      this.#awaited.set(word, waiting);
    });
  }

  #infoOf(queue: Queue): QueueInfo {
    const counts = { ...this.#db.jobs.counts(queue.name) };
    for (const [id, ending] of this.#endings(queue.name)) {
      const job = this.#db.jobs.find(queue.name, id);
      if (job === null || !isEnd(job, ending)) continue;
      counts.running--;
      counts[ending.state]++;
    }
    const isElsewhere = queue.joinedOnly === true || queue.machines.length > 0 || queue.joined.length > 0;
    const runsHere = this.#house.usesThisComputer && !isElsewhere;
    return { ...queue, counts, runsHere };
  }

  /** The record has the end of a job once its results are here. */
  #endings(queue: string): Map<JobId, Ending> {
    const generations = this.#queues.get(queue)?.runner.generations ?? [];
    return new Map(generations.flatMap(({ endings }) => [...endings]));
  }

  #asSeen(jobs: readonly QueueJob[]): QueueJob[] {
    const endings = new Map(
      [...new Set(jobs.map(({ queue }) => queue))].map((name) => [name, this.#endings(name)]),
    );
    return jobs.map((job) => {
      const ending = endings.get(job.queue)?.get(job.id);
      return ending === undefined || !isEnd(job, ending)
        ? this.#withObstacle(job)
        : { ...job, ...ending, isHere: false };
    });
  }

  /** The reason of a job that waits may be that of its queue. */
  #withObstacle(job: QueueJob): QueueJob {
    if (job.state !== "waiting" || job.reason !== null) return job;
    const reason = this.#db.queues.find(job.queue)?.isPaused
      ? "the queue is paused"
      : (this.#queues.get(job.queue)?.obstacle() ?? null);
    return { ...job, reason };
  }

  #running(name: string): RunningQueue {
    const running = this.#queues.get(name);
    if (running === undefined)
      throw new UserError(`the queue ${name} is being deleted`, { hint: "sshoal queue list" });
    return running;
  }

  #queueNamed(name: string): Queue {
    const queue = this.#db.queues.find(name);
    if (queue !== null) return queue;
    const names = this.#db.queues.all().map((each) => each.name);
    const [nearest] = suggest(name, names);
    throw new UserError(`there is no queue ${name}`, {
      hint: nearest === undefined ? `sshoal queue create ${name}` : `did you mean ${nearest}?`,
      exitCode: ExitCode.BadInput,
    });
  }

  /** What a full disk prevents is done by the housekeeping. */
  #sweepSecrets(): void {
    try {
      this.#db.secrets.sweep(this.#db.history.environmentsInUse(), Date.now());
    } catch (error) {
      if (asDiskRefusal(error) === error) throw error;
    }
  }
}

/** It declares nothing of its own, and uses this computer. */
function sharesPool({ capacity, pool, machines, joinedOnly }: KeptQueue): boolean {
  return machines.length === 0 && !joinedOnly && (capacity === null || pool === DEFAULT_QUEUE);
}

/** The record does not have it yet, and it will be that of the job: it does not run once more. */
function isEnd(job: QueueJob, { outcome }: Ending): boolean {
  return job.state === "running" && outcome !== null && !runsAgain(job, outcome);
}

function specOf({ isPaused: _, createdAt: _c, ...spec }: Queue): KeptQueue {
  return spec;
}

function machinesAfter({ machines, name }: Queue, verb: "add" | "remove", machine: string): string[] {
  if (verb === "add") return [...new Set([...machines, machine])];
  if (!machines.includes(machine)) throw unknownMachine({ name }, machine, machines);
  if (machines.length === 1)
    throw new UserError(`${machine} is the last machine of the queue ${name}`, {
      hint: `sshoal queue pause ${name}, or add another machine first`,
    });
  return machines.filter((each) => each !== machine);
}

function unknownMachine({ name }: Pick<Queue, "name">, machine: string, known: readonly string[]): UserError {
  const [nearest] = suggest(machine, known);
  return new UserError(`the queue ${name} has no machine ${machine}`, {
    hint: nearest === undefined ? `its machines: ${known.join(", ") || "none"}` : `did you mean ${nearest}?`,
  });
}
