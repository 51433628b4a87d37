// The queue service itself: its queues, and a runner for each. It has no scheduler of its own: the engine of batches runs
// the jobs, on machines that need no service.

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
import { UserError } from "../errors.js";
import type { JobId } from "../model/job.js";
import {
  type Act,
  type Acted,
  type Capacities,
  DEFAULT_QUEUE,
  type Enqueue,
  type Enqueued,
  type JobQuery,
  type Queue,
  type QueueJob,
  type QueueSpec,
} from "../model/queue.js";
import type { QueueEvent } from "../model/queue-event.js";
import { VERSION } from "../model/version.js";
import { actOnMachine } from "./act-on-machine.js";
import { createQueue } from "./create-queue.js";
import { actOnJobs } from "./jobs/act-on-jobs.js";
import { addJobs } from "./jobs/add-jobs.js";
import { explainJob } from "./jobs/explain-job.js";
import { OncePerKey } from "./jobs/once-per-key.js";
import { type Seeing, seenJobs, seenQueue } from "./jobs/seen-jobs.js";
import { joinQueues } from "./joined/join-queues.js";
import type { JoinedMachines } from "./joined/joined-machines.js";
import { DEFAULT_SPEC, keptOf, sharesPool, withPool } from "./kept-queue.js";
import { Ledger } from "./ledger.js";
import { machinesReport } from "./machines-report.js";
import type { House } from "./queue/generation-order.js";
import { checkDeletion, noSuchQueue } from "./queue-errors.js";
import { RunningQueues, type ServiceParts } from "./running-queues.js";
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

export class ServiceCore implements QueueService {
  readonly disk: ServiceDisk;
  readonly #db: ServiceDatabase;
  readonly #ledger: Ledger;
  readonly #parts: ServiceParts<OwnHouse>;
  readonly #running: RunningQueues;
  readonly #adding = new OncePerKey<Enqueued>();
  readonly #startedAt = Date.now();

  private constructor({ db, house }: Omit<CoreParts, "capacity">) {
    this.disk = openServiceDisk(house);
    this.#db = db;
    this.#ledger = new Ledger(db, house.onBug);
    this.#parts = { db, ledger: this.#ledger, house };
    this.#running = new RunningQueues(this.#parts);
  }

  /** Takes up what an earlier service left. */
  static async open(parts: CoreParts): Promise<ServiceCore> {
    const core = new ServiceCore(parts);
    if (parts.db.queues.find(DEFAULT_QUEUE) === null)
      await core.#ledger.write(() => parts.db.queues.add(DEFAULT_SPEC, null, Date.now()));
    const { capacity } = parts;
    if (capacity !== null) await core.#ledger.write(() => core.#share(capacity));
    for (const { name } of parts.db.queues.all()) await core.#running.begin(name);
    return core;
  }

  #share(capacity: Capacities): void {
    for (const queue of this.#db.queues.all())
      if (sharesPool(queue)) this.#db.queues.setSpec(withPool(keptOf(queue), capacity));
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
    await createQueue(asked, env, this.#parts);
    await this.#running.begin(asked.name);
    return this.#infoOf(this.#queueNamed(asked.name));
  }

  async deleteQueue(name: string, stops: boolean): Promise<void> {
    const queue = this.#queueNamed(name);
    const open = this.#db.search.ids({ queue: name, states: ["waiting", "running"] });
    checkDeletion(name, open.length, stops);
    this.#running.beginEnd(name);
    try {
      await this.#ledger.write(() => this.#db.queues.setPaused(queue.name, true));
      await this.#act({ verb: "stop", queue: name, ids: open });
      await this.#running.end(name);
      await this.#ledger.write((tell) => {
        this.#db.queues.remove(name);
        tell({ kind: "queue-deleted", queue: name });
      });
    } catch (error) {
      this.#running.undoEnd(name);
      throw error;
    }
    this.#running.forget(name);
    this.#sweepSecrets();
  }

  async setPaused(name: string | null, isPaused: boolean): Promise<void> {
    const queues = name === null ? this.#db.queues.all() : [this.#queueNamed(name)];
    if (name !== null) this.#running.named(name);
    await this.#ledger.write((tell) => {
      this.#db.queues.setPaused(name, isPaused);
      for (const queue of queues)
        tell({ kind: isPaused ? "queue-paused" : "queue-resumed", queue: queue.name });
    });
    const runners = queues.flatMap((queue) => this.#running.find(queue.name)?.runner ?? []);
    if (isPaused) await Promise.all(runners.map((runner) => runner.recall()));
    else for (const runner of runners) runner.wake();
  }

  enqueue(asked: Enqueue): Promise<Enqueued> {
    return this.#adding.answer(asked.key, () => this.#enqueue(asked));
  }

  async #enqueue(asked: Enqueue): Promise<Enqueued> {
    const queue = this.#queueNamed(asked.queue);
    const isEnding = () => this.#running.isEnding(queue.name);
    const added = await addJobs(asked, queue, { ...this.#parts, isEnding });
    this.#running.find(queue.name)?.runner.wake();
    return added;
  }

  jobs(query: JobQuery): readonly QueueJob[] {
    return seenJobs(this.#db.search.find(query), this.#seeing);
  }

  job(queue: string, id: JobId): QueueJob {
    this.#queueNamed(queue);
    const job = this.#db.jobs.find(queue, id);
    if (job === null) throw new UserError(`there is no job ${queue}/${id}`, { hint: `sshoal show ${queue}` });
    return seenJobs([job], this.#seeing)[0] as QueueJob;
  }

  async act(asked: Act): Promise<Acted> {
    this.#running.named(this.#queueNamed(asked.queue).name);
    const acted = await this.#act(asked);
    if (asked.verb === "remove") this.#sweepSecrets();
    return acted;
  }

  /** Also in a queue that is being deleted. */
  async #act(asked: Act): Promise<Acted> {
    const { queue: name } = asked;
    const running = this.#running.find(name);
    if (running === undefined) return { jobs: [] };
    const { runner } = running;
    const awaitEnd = (id: JobId) => this.#running.untilSettled(name, id);
    const acted = await actOnJobs(asked, { ...this.#parts, runner, awaitEnd });
    runner.wake();
    return acted;
  }

  logPath(queue: string, id: JobId, stream: "out" | "err"): string {
    return `${this.job(queue, id).results}.${stream}`;
  }

  async why(queue: string, id: JobId): Promise<WaitingJob> {
    const job = this.job(queue, id);
    const running = this.#running.named(queue);
    return explainJob(job, { ...this.#parts, queue: this.#queueNamed(queue), running });
  }

  machines(): readonly QueueMachine[] {
    const queues = this.#db.queues.all();
    return queues.flatMap((queue) => {
      const running = this.#running.find(queue.name);
      return running === undefined ? [] : machinesReport(queue, running, this.#parts);
    });
  }

  join(asked: JoinAsk): Promise<JoinDoor> {
    return joinQueues(asked, {
      ...this.#parts,
      queueNamed: (name) => this.#queueNamed(name),
      runnerOf: (name) => this.#running.find(name)?.runner,
    });
  }

  async actOnMachine(asked: MachineAct): Promise<void> {
    const queue = this.#queueNamed(asked.queue);
    const { runner } = this.#running.named(queue.name);
    return actOnMachine(asked, { ...this.#parts, queue, runner });
  }

  eventsAfter(seq: number, limit?: number): readonly QueueEvent[] | null {
    return this.#db.events.after(seq, limit);
  }

  onEvent(listener: (event: QueueEvent) => void): () => void {
    return this.#ledger.onEvent(listener);
  }

  async close(): Promise<void> {
    await this.#running.close();
    this.#ledger.close();
    this.#db.close();
  }

  #infoOf(queue: Queue): QueueInfo {
    return seenQueue(queue, this.#parts.house.usesThisComputer, this.#seeing);
  }

  get #seeing(): Seeing {
    return { db: this.#db, running: this.#running };
  }

  #queueNamed(name: string): Queue {
    const queue = this.#db.queues.find(name);
    if (queue !== null) return queue;
    const names = this.#db.queues.all().map((each) => each.name);
    throw noSuchQueue(name, names);
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
