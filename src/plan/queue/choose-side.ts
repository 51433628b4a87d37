// Decides whether the words of a command mean jobs of a batch in this directory, or jobs of the queue service. Pure.

import { DEFAULT_QUEUE, isQueueName } from "../../model/queue.js";

export interface SideFacts {
  /** A batch was run in this directory. */
  readonly hasBatch: boolean;
  /** A batch of this directory, or a job of one, is meant by this word. Asked only where both sides are possible. */
  readonly isOfBatch: (word: string) => boolean;
  /** Null: no service runs. */
  readonly queues: readonly string[] | null;
  /** The queue `default` has a job of this number, or in this range. */
  readonly isOfDefault: (word: string) => boolean;
}

export interface QueueWord {
  readonly queue: string;
  /** Null: all of its jobs. */
  readonly jobs: string | null;
}

export type Side =
  | { readonly kind: "batch" }
  | { readonly kind: "queue"; readonly words: readonly QueueWord[] }
  /** `spellings`: what to type instead of the word, for the batch and for the queue; null: the batch's own name before it. */
  | {
      readonly kind: "both";
      readonly word: string;
      readonly spellings: { readonly batch: string | null; readonly queue: string };
    }
  /** Some words mean batches, and some mean queues. */
  | { readonly kind: "mixed"; readonly batch: string; readonly queue: string }
  | { readonly kind: "no-service"; readonly queue: string }
  | { readonly kind: "unknown-queue"; readonly queue: string };

type WordSide = Exclude<Side, { kind: "mixed" }>;

/** No words: all jobs of the side. */
export function chooseSide(words: readonly string[], facts: SideFacts): Side {
  if (words.length === 0) return facts.hasBatch ? BATCH : onDefault(null, facts);
  const sides = words.map((word) => sideOf(word, facts));
  const odd = sides.find(({ kind }) => kind !== "batch" && kind !== "queue");
  if (odd !== undefined) return odd;
  const queued = sides.flatMap((side) => (side.kind === "queue" ? side.words : []));
  if (queued.length === 0) return BATCH;
  if (queued.length === words.length) return { kind: "queue", words: queued };
  const indexOf = (kind: WordSide["kind"]) => sides.findIndex((side) => side.kind === kind);
  return { kind: "mixed", batch: words[indexOf("batch")] ?? "", queue: words[indexOf("queue")] ?? "" };
}

const BATCH = { kind: "batch" } as const;

function sideOf(word: string, facts: SideFacts): WordSide {
  const { hasBatch, isOfBatch, queues, isOfDefault } = facts;
  const slash = word.indexOf("/");
  if (slash !== -1) return sideOfAddress(word.slice(0, slash), word.slice(slash + 1), facts);
  if (queues?.includes(word)) {
    if (hasBatch && isOfBatch(word)) return both(word, `./${word}`, `${word}/`);
    return { kind: "queue", words: [{ queue: word, jobs: null }] };
  }
  if (!hasBatch) return onDefault(word, facts);
  const isBoth = isNumbers(word) && isOfDefault(word) && isOfBatch(word);
  return isBoth ? both(word, null, `${DEFAULT_QUEUE}/${word}`) : BATCH;
}

/** `train/7`; `train/`: all its jobs. A script's path can look the same. */
function sideOfAddress(queue: string, jobs: string, { hasBatch, isOfBatch, queues }: SideFacts): WordSide {
  if (queues?.includes(queue)) {
    const isAll = jobs === "" || jobs === "*";
    return { kind: "queue", words: [{ queue, jobs: isAll ? null : jobs }] };
  }
  // Where there are batches, a path that no batch has is more likely a script than the name of a job.
  const isPath = hasBatch && (!isNumbers(jobs) || isOfBatch(`${queue}/${jobs}`));
  if (!isQueueName(queue) || isPath) return BATCH;
  return { kind: queues === null ? "no-service" : "unknown-queue", queue };
}

/** Without a batch here. */
function onDefault(jobs: string | null, { queues }: SideFacts): WordSide {
  return queues === null ? BATCH : { kind: "queue", words: [{ queue: DEFAULT_QUEUE, jobs }] };
}

function both(word: string, batch: string | null, queue: string): WordSide {
  return { kind: "both", word, spellings: { batch, queue } };
}

/** `7`, `3-7`, `1,4-6`. */
function isNumbers(word: string): boolean {
  return /^\d[\d,-]*$/.test(word);
}
