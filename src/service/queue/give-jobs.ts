// Gives the next jobs of a queue to a generation: takes them from the record, reads their files, and hands them over.

import type { JobId } from "../../model/job.js";
import type { Queue, QueueJob } from "../../model/queue.js";
import {
  type Ahead,
  aheadOfEachSlot,
  chooseNext,
  isTimeToGive,
  type Window,
} from "../../plan/queue/choose-next.js";
import { givenJob, type MachineFacts } from "./engine-job.js";
import type { Generation } from "./generation.js";
import type { GivenJob } from "./given-jobs.js";
import { unreadableFact } from "./job-fact.js";
import { slotsOn } from "./machine-sums.js";
import type { RunnerBooks } from "./runner-books.js";

/** Before a machine has answered: one is enough to plan its slots, and a more urgent one overtakes the others. */
const FIRST_JOBS = 1;
const MOST_AT_ONCE = 500;
/** How much the last job counts for what is usual. */
const WEIGHT = 0.2;

/** How long a job usually takes, after one more has ended. */
export function usualAfter(usualMs: number | null, durationMs: number): number {
  return usualMs === null ? durationMs : usualMs * (1 - WEIGHT) + durationMs * WEIGHT;
}

/** `running`: how many jobs of the queue run; null: its machine counts them. */
export function windowOf(
  { state }: Generation,
  { maxJobs, ahead }: Queue,
  { usualMs, running }: { readonly usualMs: number | null; readonly running: number | null },
): Window {
  const slots = slotsOn(state.machines);
  const most = slots === 0 ? FIRST_JOBS : slots * aheadOfEachSlot(usualMs, ahead);
  const limit = maxJobs === null || running === null ? Number.POSITIVE_INFINITY : maxJobs - running;
  return { most, limit };
}

export interface Giving {
  readonly generation: Generation;
  readonly books: RunnerBooks;
  readonly queue: Queue;
  readonly window: Window;
  readonly facts: () => MachineFacts;
}

/** True if there may be more to give at once. */
export async function giveJobs(giving: Giving): Promise<boolean> {
  const { generation, books, window } = giving;
  const before = generation.ahead;
  const head = chooseNext(books.heads(), before, window);
  const isUrgent = head !== null && before.last !== null && head.priority > before.last.priority;
  if (head === null || !(isUrgent || isTimeToGive(before.total, window.most))) return false;
  const { jobs, isFull } = await take(before, giving);
  if (jobs.length === 0) return false;
  const isAllHanded = await hand(jobs, giving);
  return isFull || !isAllHanded;
}

async function take(before: Ahead, { generation, books, window }: Giving) {
  const byKind = new Map(before.byKind);
  const { last } = before;
  let { total } = before;
  let count = 0;
  const jobs = await books.take(generation.number, () => {
    if (count === MOST_AT_ONCE) return null;
    const next = chooseNext(books.heads(), { total, byKind, last }, window);
    if (next === null) return null;
    count++;
    total++;
    byKind.set(next.kind, (byKind.get(next.kind) ?? 0) + 1);
    return next;
  });
  return { jobs, isFull: count === MOST_AT_ONCE };
}

/** False if some wait again, because a user has changed them meanwhile, or the generation gets no more. */
async function hand(
  jobs: readonly QueueJob[],
  { generation, books, queue, facts }: Giving,
): Promise<boolean> {
  const known = facts();
  const readable: { readonly job: QueueJob; readonly given: GivenJob }[] = [];
  for (const job of jobs) {
    const given = givenJob(job, queue, known, books.insideOf(job));
    if (await readTree(given, generation, books)) readable.push({ job, given });
  }
  const isAsTaken = readable.map(({ job }) => books.isAsTaken(job, generation.number));
  const toGive = readable.filter((_, place) => !generation.isClosing && isAsTaken[place]);
  if (toGive.length > 0) generation.give(toGive.map(({ given }) => given));
  if (toGive.length === readable.length) return true;
  const others = readable.flatMap(({ job: { id } }): JobId[] => (generation.has(id) ? [] : [id]));
  await books.giveBack(others, generation.number);
  return false;
}

/** A job whose stored files cannot be read is lost, and the others go on. */
async function readTree({ job }: GivenJob, generation: Generation, books: RunnerBooks): Promise<boolean> {
  if (job.tree === undefined) return true;
  try {
    await generation.readTree(job);
    return true;
  } catch (error) {
    books.noteFact(unreadableFact(job.id, (error as Error).message), generation.number);
    return false;
  }
}
