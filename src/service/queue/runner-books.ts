// What the runner of a queue reads and writes.

import type { RunEvent } from "../../model/event.js";
import type { JobId } from "../../model/job.js";
import type { Queue, QueueJob } from "../../model/queue.js";
import type { Head } from "../../plan/queue/choose-next.js";
import type { JobFact } from "./job-fact.js";

/** Each write is safe on the disk when its promise resolves. */
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
