// Runs one queue: gives its waiting jobs to the machines, about a second of work ahead, and passes on what becomes of
// each. At any time one generation gets jobs; earlier ones end with the jobs that they have.

import type { RunEvent } from "../model/event.js";
import { type JobId, kindOf } from "../model/job.js";
import type { MachineSpec } from "../model/machine.js";
import type { Queue, QueueJob } from "../model/queue.js";
import { aheadOfEachSlot, chooseNext, type Head, isTimeToGive } from "../plan/queue/choose-next.js";
import { engineJob, envForJob, type MachineFacts } from "./engine-job.js";
import { Generation, type GivenJob, type JobFact, Left } from "./generation.js";
import { generationOrder, type House, removeJournal } from "./generation-order.js";
import { hasCards, isAllLocal, isAway, machinesOf } from "./queue-machines.js";
import { DiskRefusal } from "./store/disk-refusal.js";

/** A generation gets so many jobs: what it keeps in memory, on disk and on machines stays small. */
const MOST_OF_A_GENERATION = 5000;
/** Before a machine has answered: one is enough to plan its slots, and a more urgent one overtakes the others. */
const FIRST_JOBS = 1;
const MOST_AT_ONCE = 500;
/** After so long without jobs nothing is kept on the machines, and no connection. */
const IDLE_MS = 5000;
const START_AGAIN_MS = 10_000;
const FIRST_REST_MS = 2000;
const LONGEST_REST_MS = 60_000;
/** How much the last job counts for what is usual. */
const WEIGHT = 0.2;

/** What the runner reads and writes. Each write is safe on the disk when its promise resolves. */
export interface RunnerBooks {
  queue(): Queue;
  /** The first waiting job of each kind that may begin. */
  heads(): Iterable<Head>;
  /** Gives jobs to a generation, one after the other, until `choose` returns null. */
  take(generation: number, choose: () => Head | null): Promise<readonly QueueJob[]>;
  /** The jobs of a generation that are not over. */
  givenTo(generation: number): readonly QueueJob[];
  /** False if a user stopped, held or removed it since it was taken, or gave it another priority. */
  isAsTaken(job: QueueJob, generation: number): boolean;
  /** Taken for this generation, and never given to it: those that still wait may be taken again. */
  giveBack(ids: readonly JobId[], generation: number): Promise<void>;
  /** How often the job was given, and its variables. */
  insideOf(job: QueueJob): { readonly turns: number; readonly env: Readonly<Record<string, string>> };
  openGenerations(): readonly number[];
  beginGeneration(): Promise<number>;
  endGeneration(number: number): Promise<void>;
  noteFact(fact: JobFact, generation: number): void;
  noteEvent(event: RunEvent): void;
  /** Why nothing of the queue begins; null: nothing prevents it. */
  noteObstacle(reason: string | null): void;
  isDraining(machine: string): boolean;
}

export class QueueRunner {
  readonly #house: House;
  readonly #books: RunnerBooks;
  #current: Generation | null = null;
  readonly #earlier = new Set<Generation>();
  readonly #endings = new Set<Promise<void>>();
  #specs: readonly MachineSpec[] = [];
  #usualMs: number | null = null;
  /** Grows while no machine can be used. */
  #restMs = 0;
  #notBefore = 0;
  #timer: NodeJS.Timeout | undefined;
  #turn: Promise<void> = Promise.resolve();
  #isWoken = false;
  #isClosed = false;
  readonly #recalls = new Set<{ readonly isCalm: () => boolean; readonly resolve: () => void }>();

  constructor(house: House, books: RunnerBooks) {
    this.#house = house;
    this.#books = books;
  }

  /** What an earlier service left goes on. Nothing is given meanwhile: the newest generation gets the next jobs. */
  async resume(): Promise<void> {
    this.#turn = this.#turn.then(() => this.#resumeAll());
    await this.#turn;
    this.wake();
  }

  async #resumeAll(): Promise<void> {
    const numbers = [...this.#books.openGenerations()].sort((one, other) => one - other);
    for (const number of numbers) {
      const generation = await this.#startAgain(number);
      if (generation === null) continue;
      const isNewest = number === numbers.at(-1);
      if (isNewest && !this.#books.queue().isPaused) this.#current = generation;
      else this.#retire(generation);
    }
  }

  /** Something changed: looks again whether jobs can be given. */
  wake(): void {
    if (this.#isWoken || this.#isClosed) return;
    this.#isWoken = true;
    this.#turn = this.#turn.then(async () => {
      this.#isWoken = false;
      if (this.#isClosed) return;
      await this.#giveJobs().catch((error: unknown) => {
        this.#noteTrouble(error);
        this.#wakeAfter(FIRST_REST_MS);
      });
    });
  }

  #noteTrouble(error: unknown): void {
    if (error instanceof DiskRefusal) this.#books.noteObstacle(error.message);
    else this.#house.onBug(error);
  }

  /** The machines changed, or something about jobs that they have: those that have not begun come back. */
  windDown(): void {
    for (const generation of this.#all()) this.#retire(generation);
    this.wake();
  }

  /** As windDown. Resolves when none of those jobs begins without being given anew, except on machines that cannot be asked. */
  async recall(): Promise<void> {
    // A turn under way may still give jobs, by what it read before.
    await this.#turn;
    const generations = this.#all();
    this.windDown();
    const isCalm = () => !this.#all().some((each) => generations.includes(each) && each.mayBegin);
    if (isCalm()) return;
    await new Promise<void>((resolve) => this.#recalls.add({ isCalm, resolve }));
  }

  /** Resolves when all of its generations have ended. */
  async ended(): Promise<void> {
    await Promise.all(this.#endings);
  }

  generationOf(id: JobId): Generation | null {
    return this.#all().find((generation) => generation.has(id)) ?? null;
  }

  /** Where its jobs are, for reports. */
  get generations(): readonly Generation[] {
    return this.#all();
  }

  get specs(): readonly MachineSpec[] {
    return this.#specs;
  }

  get runningCount(): number {
    return this.#all().reduce((sum, { runningCount }) => sum + runningCount, 0);
  }

  #noteDuration(durationMs: number): void {
    this.#usualMs = this.#usualMs === null ? durationMs : this.#usualMs * (1 - WEIGHT) + durationMs * WEIGHT;
  }

  /** It has dialled in: jobs can begin there at once. */
  noteJoined(machine: string): void {
    this.#restMs = 0;
    this.#notBefore = 0;
    const current = this.#current;
    const known = current?.state.machines.get(machine);
    // A generation does not go back to a machine that it has left out.
    if (current !== null && (known === undefined || known.phase === "failed")) this.#retire(current);
    this.wake();
  }

  async setDraining(machine: string, isDraining: boolean): Promise<void> {
    const current = this.#current;
    if (current === null) return;
    if (current.state.machines.has(machine)) await current.setDraining(machine, isDraining);
    else this.windDown();
  }

  /** Leaves the jobs on their machines. */
  async close(): Promise<void> {
    this.#isClosed = true;
    clearTimeout(this.#timer);
    await this.#turn;
    for (const generation of this.#all()) generation.leave();
    await Promise.all(this.#endings);
  }

  #all(): Generation[] {
    return [...this.#earlier, ...(this.#current === null ? [] : [this.#current])];
  }

  async #giveJobs(): Promise<void> {
    const queue = this.#books.queue();
    if (queue.isPaused) return;
    const [first] = this.#books.heads();
    if (first === undefined) return this.#rest();
    clearTimeout(this.#timer);
    if (this.#current !== null && this.#isUsedUp(this.#current)) this.#finishOff(this.#current);
    if (this.#current === null) {
      const restMs = this.#notBefore - performance.now();
      if (restMs > 0) return this.#wakeAfter(restMs);
      this.#current = await this.#open();
      if (this.#current === null) return this.#tryLater();
    }
    await this.#fill(this.#current, queue);
  }

  #isUsedUp(generation: Generation): boolean {
    return generation.isClosing || generation.given >= MOST_OF_A_GENERATION;
  }

  async #fill(generation: Generation, queue: Queue): Promise<void> {
    const window = this.#windowOf(generation, queue);
    const before = generation.ahead;
    const head = chooseNext(this.#books.heads(), before, window);
    const isUrgent = head !== null && before.last !== null && head.priority > before.last.priority;
    if (head === null || !(isUrgent || isTimeToGive(before.total, window.most))) return;
    const byKind = new Map(before.byKind);
    let { total, last } = before;
    let count = 0;
    const jobs = await this.#books.take(generation.number, () => {
      if (count === MOST_AT_ONCE) return null;
      const next = chooseNext(this.#books.heads(), { total, byKind, last }, window);
      if (next === null) return null;
      count++;
      total++;
      byKind.set(next.kind, (byKind.get(next.kind) ?? 0) + 1);
      last = before.last;
      return next;
    });
    if (jobs.length === 0) return;
    await this.#hand(generation, queue, jobs);
    if (count === MOST_AT_ONCE) this.wake();
  }

  #windowOf(generation: Generation, { maxJobs, ahead }: Queue) {
    const { slots } = generation;
    const most = slots === 0 ? FIRST_JOBS : slots * aheadOfEachSlot(this.#usualMs, ahead);
    // A single machine counts by itself how many run.
    const isCounted = maxJobs !== null && (this.#specs.length > 1 || this.#earlier.size > 0);
    const limit = isCounted ? maxJobs - this.runningCount : Number.POSITIVE_INFINITY;
    return { most, limit };
  }

  async #hand(generation: Generation, queue: Queue, jobs: readonly QueueJob[]): Promise<void> {
    const facts = this.#factsOf(queue);
    const readable: { readonly job: QueueJob; readonly given: GivenJob }[] = [];
    for (const job of jobs) {
      const given = this.#givenJob(job, queue, facts);
      if (await this.#readTree(generation, given)) readable.push({ job, given });
    }
    const isAsTaken = readable.map(({ job }) => this.#books.isAsTaken(job, generation.number));
    const toGive = readable.filter((_, place) => !generation.isClosing && isAsTaken[place]);
    if (toGive.length > 0) generation.give(toGive.map(({ given }) => given));
    if (toGive.length === readable.length) return;
    const others = readable.flatMap(({ job: { id } }) => (generation.has(id) ? [] : [id]));
    await this.#books.giveBack(others, generation.number);
    this.wake();
  }

  /** A job whose stored files cannot be read is lost, and the others go on. */
  async #readTree(generation: Generation, { job }: GivenJob): Promise<boolean> {
    if (job.tree === undefined) return true;
    try {
      await generation.readTree(job);
      return true;
    } catch (error) {
      this.#books.noteFact(unreadable(job.id, (error as Error).message), generation.number);
      return false;
    }
  }

  /** Null: its machines cannot be read. */
  async #open(): Promise<Generation | null> {
    try {
      const specs = await this.#readMachines();
      const present = specs.filter((spec) => !isAway(spec, this.#house));
      if (present.length > 0) return await this.#start(await this.#books.beginGeneration(), [], present);
      if (specs.length > 0) this.#books.noteObstacle(`none of its machines has a link: ${namesOf(specs)}`);
      return null;
    } catch (error) {
      this.#books.noteObstacle((error as Error).message);
      return null;
    }
  }

  async #readMachines(): Promise<readonly MachineSpec[]> {
    const all = await machinesOf(this.#books.queue(), this.#house);
    this.#specs = all.filter(({ name }) => !this.#books.isDraining(name));
    if (all.length === 0)
      this.#books.noteObstacle("the queue has no machine: sshoal queue add-machine, or sshoal join on one");
    else if (this.#specs.length === 0) this.#books.noteObstacle("all machines of the queue are drained");
    return this.#specs;
  }

  /** `present`: absent for a generation that goes on, whose machines may be away and have jobs. */
  async #start(
    number: number,
    given: readonly QueueJob[],
    present?: readonly MachineSpec[],
  ): Promise<Generation> {
    const queue = this.#books.queue();
    if (this.#specs.length === 0) await this.#readMachines();
    const facts = this.#factsOf(queue);
    const machines = present ?? this.#specs;
    const order = generationOrder({ queue, number, machines }, this.#house);
    await order.results.prepare();
    const generation = new Generation({
      number,
      jobs: given.map((job) => this.#givenJob(job, queue, facts)),
      order,
      onFact: (fact) => {
        this.#books.noteFact(fact, number);
        this.wake();
      },
      onEvent: (event) => this.#note(event),
    });
    const ending = this.#follow(generation).finally(() => this.#endings.delete(ending));
    this.#endings.add(ending);
    return generation;
  }

  #factsOf({ name }: Queue): MachineFacts {
    return { hasCards: hasCards(name, this.#specs, this.#house), isLocal: isAllLocal(this.#specs) };
  }

  #givenJob(job: QueueJob, queue: Queue, facts: MachineFacts): GivenJob {
    const { env, turns } = this.#books.insideOf(job);
    return {
      job: { ...engineJob(job, queue, facts), turn: turns },
      kind: kindOf(job.need),
      env: envForJob(env, job, queue, facts.hasCards),
    };
  }

  #note(event: RunEvent): void {
    this.#books.noteEvent(event);
    if (event.kind === "job-ended") this.#noteDuration(event.durationMs);
    if (event.kind === "machine-ready") {
      this.#restMs = 0;
      this.#notBefore = 0;
      this.#books.noteObstacle(null);
    }
    if (event.kind === "machine-failed") this.#books.noteObstacle(`${event.machine}: ${event.reason}`);
    if (event.kind === "machine-ready" || event.kind === "machine-opened") this.wake();
    this.#tellCalm();
  }

  async #follow(generation: Generation): Promise<void> {
    let isEnded = true;
    try {
      await generation.finish();
      await this.#books.endGeneration(generation.number);
      removeJournal(this.#books.queue().name, generation.number, this.#house);
    } catch (error) {
      if (error instanceof Left || this.#isClosed) return;
      isEnded = false;
      this.#noteTrouble(error);
    }
    this.#earlier.delete(generation);
    if (this.#current === generation) this.#current = null;
    // Its machines go on.
    if (!isEnded) return this.#startAgainLater(generation.number);
    const { whyEnded } = generation;
    // The reason of a machine that failed is known already.
    const hasFailed = [...generation.state.machines.values()].some(({ phase }) => phase === "failed");
    if (whyEnded !== null && !hasFailed) this.#books.noteObstacle(whyEnded);
    const wasAnyReady = [...generation.state.machines.values()].some(({ slots }) => slots > 0);
    this.#tellCalm();
    if (wasAnyReady) this.wake();
    else this.#tryLater();
  }

  /** Null: its machines cannot be read now. They go on, and it is tried again later. */
  async #startAgain(number: number): Promise<Generation | null> {
    try {
      return await this.#start(number, this.#books.givenTo(number));
    } catch (error) {
      this.#books.noteObstacle((error as Error).message);
      this.#startAgainLater(number);
      return null;
    }
  }

  #startAgainLater(number: number): void {
    const timer = setTimeout(() => {
      this.#turn = this.#turn.then(async () => {
        const generation = this.#isClosed ? null : await this.#startAgain(number);
        if (generation !== null) this.#retire(generation);
      });
    }, START_AGAIN_MS);
    timer.unref();
  }

  /** Its jobs that have not begun come back. */
  #retire(generation: Generation): void {
    this.#setAside(generation);
    generation.windDown();
  }

  /** It runs all of its jobs, and gets no more. */
  #finishOff(generation: Generation): void {
    this.#setAside(generation);
    generation.complete();
  }

  #setAside(generation: Generation): void {
    if (this.#current === generation) this.#current = null;
    this.#earlier.add(generation);
  }

  /** No job waits to be given. */
  #rest(): void {
    const generation = this.#current;
    if (generation === null || !generation.isEmpty) return;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => {
      if (this.#current === generation && generation.isEmpty) this.#finishOff(generation);
    }, IDLE_MS);
    this.#timer.unref();
  }

  #tryLater(): void {
    this.#restMs = Math.min(LONGEST_REST_MS, Math.max(FIRST_REST_MS, this.#restMs * 2));
    this.#notBefore = performance.now() + this.#restMs;
    this.wake();
  }

  #wakeAfter(ms: number): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.wake(), ms);
  }

  #tellCalm(): void {
    for (const recall of this.#recalls) {
      if (!recall.isCalm()) continue;
      this.#recalls.delete(recall);
      recall.resolve();
    }
  }
}

function namesOf(specs: readonly MachineSpec[]): string {
  return specs.map(({ name }) => name).join(", ");
}

function unreadable(job: JobId, problem: string): JobFact {
  const reason = `its files cannot be read: ${problem}`;
  const nothing = { machine: null, durationMs: null, footprint: null, stderrTail: null };
  return { kind: "ended", job, outcome: { kind: "lost", reason }, problem: reason, ...nothing };
}
