// Runs one queue: gives its waiting jobs to the machines, about a second of work ahead, and passes on what becomes of
// each. At any time one generation gets jobs; earlier ones end with the jobs that they have.

import type { RunEvent } from "../../model/event.js";
import type { JobId } from "../../model/job.js";
import type { MachineSpec } from "../../model/machine.js";
import type { Queue, QueueJob } from "../../model/queue.js";
import { DiskRefusal } from "../store/disk-refusal.js";
import { type Generation, Left } from "./generation.js";
import { type House, removeJournal } from "./generation-order.js";
import { giveJobs, usualAfter, windowOf } from "./give-jobs.js";
import { LiveGenerations } from "./live-generations.js";
import type { RunnerBooks } from "./runner-books.js";
import { factsOf, presentMachines, startGeneration, undrainedMachines } from "./start-generation.js";
import { Turns } from "./turns.js";

/** After so long without jobs nothing is kept on the machines, and no connection. */
const IDLE_MS = 5000;
const START_AGAIN_MS = 10_000;

export class QueueRunner {
  readonly #house: House;
  readonly #books: RunnerBooks;
  readonly #live = new LiveGenerations();
  readonly #endings = new Set<Promise<void>>();
  readonly #turns = new Turns({
    look: () => this.#giveJobs(),
    onTrouble: (error) => this.#noteTrouble(error),
  });
  #specs: readonly MachineSpec[] = [];
  #usualMs: number | null = null;
  #isRetired = false;

  constructor(house: House, books: RunnerBooks) {
    this.#house = house;
    this.#books = books;
  }

  /** What an earlier service left goes on. Nothing is given meanwhile: the newest generation gets the next jobs. */
  async resume(): Promise<void> {
    await this.#turns.add(() => this.#resumeAll());
    this.wake();
  }

  async #resumeAll(): Promise<void> {
    const numbers = [...this.#books.openGenerations()].sort((one, other) => one - other);
    for (const number of numbers) {
      const generation = await this.#startAgain(number);
      if (generation === null) continue;
      const isNewest = number === numbers.at(-1);
      if (isNewest && !this.#books.queue().isPaused) this.#live.current = generation;
      else this.#live.retire(generation);
    }
  }

  /** Something changed: looks again whether jobs can be given. */
  wake(): void {
    this.#turns.wake();
  }

  #noteTrouble(error: unknown): void {
    if (error instanceof DiskRefusal) this.#books.noteObstacle(error.message);
    else this.#house.onBug(error);
  }

  /** The machines changed, or something about jobs that they have: those that have not begun come back. */
  windDown(): void {
    for (const generation of this.#live.all) this.#live.retire(generation);
    this.wake();
  }

  /** As windDown. Resolves when none of those jobs begins without being given anew, except on machines that cannot be asked. */
  async recall(): Promise<void> {
    // A turn under way may still give jobs, by what it read before.
    await this.#turns.over;
    const generations = this.#live.all;
    this.windDown();
    await this.#live.untilCalm(generations);
  }

  /** Resolves when all of its generations have ended. */
  async ended(): Promise<void> {
    await Promise.all(this.#endings);
  }

  /** Nothing is given any more. Resolves when all of its generations have ended, with false if the service ends before. */
  async retire(): Promise<boolean> {
    this.#isRetired = true;
    // A turn under way may still give jobs.
    await this.#turns.over;
    this.windDown();
    await this.ended();
    return !this.#turns.isClosed;
  }

  undoRetire(): void {
    this.#isRetired = false;
    this.wake();
  }

  generationOf(id: JobId): Generation | null {
    return this.#live.with(id);
  }

  /** Where its jobs are, for reports. */
  get generations(): readonly Generation[] {
    return this.#live.all;
  }

  get specs(): readonly MachineSpec[] {
    return this.#specs;
  }

  /** It has dialled in: jobs can begin there at once. */
  noteJoined(machine: string): void {
    this.#turns.endRest();
    const { current } = this.#live;
    const known = current?.state.machines.get(machine);
    // A generation does not go back to a machine that it has left out.
    if (current !== null && (known === undefined || known.phase === "failed")) this.#live.retire(current);
    this.wake();
  }

  async setDraining(machine: string, isDraining: boolean): Promise<void> {
    if (!(await this.#live.setDraining(machine, isDraining))) this.windDown();
  }

  /** Leaves the jobs on their machines. */
  async close(): Promise<void> {
    await this.#turns.close();
    for (const generation of this.#live.all) generation.leave();
    await Promise.all(this.#endings);
  }

  async #giveJobs(): Promise<void> {
    if (this.#isRetired) return;
    const queue = this.#books.queue();
    if (queue.isPaused) return;
    const [first] = this.#books.heads();
    if (first === undefined) return this.#rest();
    this.#turns.cancel();
    const live = this.#live;
    live.finishUsedUp();
    if (live.current === null) {
      const restMs = this.#turns.restLeftMs;
      if (restMs > 0) return this.#turns.wakeAfter(restMs);
      live.current = await this.#open();
      if (live.current === null) return this.#turns.rest();
    }
    await this.#fill(live.current, queue);
  }

  async #fill(generation: Generation, queue: Queue): Promise<void> {
    // A single machine counts by itself how many run.
    const isAlone = this.#specs.length <= 1 && !this.#live.hasEarlier;
    const running = isAlone ? null : this.#live.runningCount;
    const window = windowOf(generation, queue, { usualMs: this.#usualMs, running });
    const facts = () => factsOf(queue, this.#specs, this.#house);
    const hasMore = await giveJobs({ generation, books: this.#books, queue, window, facts });
    if (hasMore) this.wake();
  }

  /** Null: its machines cannot be read. */
  async #open(): Promise<Generation | null> {
    try {
      this.#specs = await undrainedMachines(this.#books, this.#house);
      const present = presentMachines(this.#specs, this.#books, this.#house);
      if (present.length === 0) return null;
      return await this.#start(await this.#books.beginGeneration(), [], present);
    } catch (error) {
      this.#books.noteObstacle((error as Error).message);
      return null;
    }
  }

  /** `present`: absent for a generation that goes on, whose machines may be away and have jobs. */
  async #start(
    number: number,
    given: readonly QueueJob[],
    present?: readonly MachineSpec[],
  ): Promise<Generation> {
    const queue = this.#books.queue();
    if (this.#specs.length === 0) this.#specs = await undrainedMachines(this.#books, this.#house);
    const generation = await startGeneration({
      number,
      queue,
      given,
      machines: present ?? this.#specs,
      facts: factsOf(queue, this.#specs, this.#house),
      books: this.#books,
      house: this.#house,
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

  #note(event: RunEvent): void {
    this.#books.noteEvent(event);
    if (event.kind === "job-ended") this.#usualMs = usualAfter(this.#usualMs, event.durationMs);
    if (event.kind === "machine-ready") {
      this.#turns.endRest();
      this.#books.noteObstacle(null);
    }
    if (event.kind === "machine-failed") this.#books.noteObstacle(`${event.machine}: ${event.reason}`);
    if (event.kind === "machine-ready" || event.kind === "machine-opened") this.wake();
    this.#live.lookForCalm();
  }

  async #follow(generation: Generation): Promise<void> {
    let isEnded = true;
    try {
      await generation.finish();
      await this.#books.endGeneration(generation.number);
      removeJournal(this.#books.queue().name, generation.number, this.#house);
    } catch (error) {
      if (error instanceof Left || this.#turns.isClosed) return;
      isEnded = false;
      this.#noteTrouble(error);
    }
    this.#live.remove(generation);
    // Its machines go on.
    if (!isEnded) return this.#startAgainLater(generation.number);
    const { whyEnded } = generation;
    if (whyEnded !== null) this.#books.noteObstacle(whyEnded);
    const wasAnyReady = [...generation.state.machines.values()].some(({ slots }) => slots > 0);
    this.#live.lookForCalm();
    if (wasAnyReady) this.wake();
    else this.#turns.rest();
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
    this.#turns.addAfter(START_AGAIN_MS, async () => {
      const generation = await this.#startAgain(number);
      if (generation !== null) this.#live.retire(generation);
    });
  }

  /** No job waits to be given. */
  #rest(): void {
    const generation = this.#live.current;
    if (generation === null || !generation.isEmpty) return;
    this.#turns.idle(IDLE_MS, () => {
      if (this.#live.current === generation && generation.isEmpty) this.#live.finishOff(generation);
    });
  }
}
