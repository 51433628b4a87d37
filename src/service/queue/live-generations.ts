// The generations of a queue that have not ended: the one that gets jobs, and earlier ones.

import { LinkLost } from "../../fleet/link.js";
import type { JobId } from "../../model/job.js";
import { RemoteError } from "../../remote/engine/remote-error.js";
import type { Generation } from "./generation.js";
import { mayBeginOn } from "./machine-sums.js";

/** A generation gets so many jobs: what it keeps in memory, on disk and on machines stays small. */
const MOST_OF_A_GENERATION = 5000;

export class LiveGenerations {
  /** It gets the next jobs. */
  current: Generation | null = null;
  readonly #earlier = new Set<Generation>();
  readonly #recalls = new Set<{ readonly isCalm: () => boolean; readonly resolve: () => void }>();

  get all(): Generation[] {
    return [...this.#earlier, ...(this.current === null ? [] : [this.current])];
  }

  get hasEarlier(): boolean {
    return this.#earlier.size > 0;
  }

  get runningCount(): number {
    return this.all.reduce((sum, { runningCount }) => sum + runningCount, 0);
  }

  with(id: JobId): Generation | null {
    return this.all.find((generation) => generation.has(id)) ?? null;
  }

  /** Its jobs that have not begun come back. */
  retire(generation: Generation): void {
    this.#setAside(generation);
    generation.windDown();
  }

  /** It runs all of its jobs, and gets no more. */
  finishOff(generation: Generation): void {
    this.#setAside(generation);
    generation.complete();
  }

  finishUsedUp(): void {
    const { current } = this;
    const isUsedUp = current !== null && (current.isClosing || current.given >= MOST_OF_A_GENERATION);
    if (isUsedUp) this.finishOff(current);
  }

  #setAside(generation: Generation): void {
    if (this.current === generation) this.current = null;
    this.#earlier.add(generation);
  }

  remove(generation: Generation): void {
    this.#earlier.delete(generation);
    if (this.current === generation) this.current = null;
  }

  /** False: the one that gets jobs does not know the machine or cannot reach it. The next one begins with what is recorded. */
  async setDraining(machine: string, isDraining: boolean): Promise<boolean> {
    const { current } = this;
    if (current === null) return true;
    if (!current.state.machines.has(machine)) return false;
    try {
      await current.setDraining(machine, isDraining);
      return true;
    } catch (error) {
      if (error instanceof LinkLost || error instanceof RemoteError) return false;
      throw error;
    }
  }

  /** Resolves when none of them may begin a job, except on machines that cannot be asked. */
  async untilCalm(generations: readonly Generation[]): Promise<void> {
    const mayBegin = ({ state }: Generation) => mayBeginOn(state.machines);
    const isCalm = () => !this.all.some((each) => generations.includes(each) && mayBegin(each));
    if (isCalm()) return;
    await new Promise<void>((resolve) => this.#recalls.add({ isCalm, resolve }));
  }

  /** Something became of a generation. */
  lookForCalm(): void {
    for (const recall of this.#recalls) {
      if (!recall.isCalm()) continue;
      this.#recalls.delete(recall);
      recall.resolve();
    }
  }
}
