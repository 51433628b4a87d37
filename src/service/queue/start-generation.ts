// Starts a generation of a queue on its machines, or starts one again that an earlier service left.

import type { RunEvent } from "../../model/event.js";
import type { MachineSpec } from "../../model/machine.js";
import type { Queue, QueueJob } from "../../model/queue.js";
import { hasCards, isAllLocal, isAway, machinesOf } from "../queue-machines.js";
import { givenJob, type MachineFacts } from "./engine-job.js";
import { Generation } from "./generation.js";
import { generationOrder, type House } from "./generation-order.js";
import type { JobFact } from "./job-fact.js";
import type { RunnerBooks } from "./runner-books.js";

/** The machines of the queue that are not drained. Without any, the record gets the reason. */
export async function undrainedMachines(books: RunnerBooks, house: House): Promise<readonly MachineSpec[]> {
  const all = await machinesOf(books.queue(), house);
  const specs = all.filter(({ name }) => !books.isDraining(name));
  if (all.length === 0)
    books.noteObstacle("the queue has no machine: sshoal queue add-machine, or sshoal join on one");
  else if (specs.length === 0) books.noteObstacle("all machines of the queue are drained");
  return specs;
}

/** Those with a link. Without any, the record gets the reason. */
export function presentMachines(
  specs: readonly MachineSpec[],
  books: RunnerBooks,
  house: House,
): readonly MachineSpec[] {
  const present = specs.filter((spec) => !isAway(spec, house));
  if (present.length === 0 && specs.length > 0) {
    const names = specs.map(({ name }) => name).join(", ");
    books.noteObstacle(`none of its machines has a link: ${names}`);
  }
  return present;
}

export function factsOf({ name }: Queue, specs: readonly MachineSpec[], house: House): MachineFacts {
  return { hasCards: hasCards(name, specs, house), isLocal: isAllLocal(specs) };
}

export interface Starting {
  readonly number: number;
  readonly queue: Queue;
  /** What it was given before. */
  readonly given: readonly QueueJob[];
  readonly machines: readonly MachineSpec[];
  readonly facts: MachineFacts;
  readonly books: RunnerBooks;
  readonly house: House;
  readonly onFact: (fact: JobFact) => void;
  readonly onEvent: (event: RunEvent) => void;
}

export async function startGeneration(starting: Starting): Promise<Generation> {
  const { number, queue, given, machines, facts, books, house, onFact, onEvent } = starting;
  const order = generationOrder({ queue, number, machines }, house);
  await order.results.prepare();
  const jobs = given.map((job) => givenJob(job, queue, facts, books.insideOf(job)));
  return new Generation({ number, jobs, order, onFact, onEvent });
}
