// What `sshoal show` draws: queues, each with its jobs in order, and how many more there are.

import type { QueueJob } from "../../model/queue.js";
import type { JobWord } from "../../model/standing.js";
import { type Span, span } from "../live/styled-text.js";
import {
  NARROWEST_QUEUE,
  type QueueLook,
  type QueueWidths,
  queueHead,
  queueRows,
  type ShownQueue,
} from "./queue-table.js";

/** "state": what runs, then what waits as it will start, then what ended last. */
export type QueueOrder = "state" | "id" | "time" | "priority";

export interface ShownQueues {
  readonly queues: readonly ShownQueue[];
  readonly jobs: readonly QueueJob[];
}

export interface QueueChoice {
  readonly order: QueueOrder;
  /** The most of the jobs that wait, and of those in each state that are over. */
  readonly limit: number;
  /** Only these states are shown and counted; empty: all. */
  readonly states: readonly JobWord[];
}

/** The lines as spans, and the widths for the next drawing. */
export function queueLines(
  { queues, jobs }: ShownQueues,
  choice: QueueChoice,
  look: QueueLook,
  before = NARROWEST_QUEUE,
): { readonly lines: Span[][]; readonly widths: QueueWidths } {
  let widths = before;
  const lines = queues.flatMap((queue, index) => {
    const own = jobs.filter((job) => job.queue === queue.name);
    const shown = sortJobs(limited(own, choice), choice.order);
    const table = queueRows(shown, look, widths);
    widths = table.widths;
    const more = moreLine(queue, shown, choice, look);
    return [...(index > 0 ? [[span("")]] : []), [span(queueHead(queue))], ...table.lines, ...more];
  });
  return { lines, widths };
}

const ENDED = ["failed", "lost", "stopped", "succeeded", "skipped"] as const;

function limited(jobs: readonly QueueJob[], { limit, states }: QueueChoice): QueueJob[] {
  const wanted = jobs.filter(({ state }) => states.length === 0 || states.includes(state));
  const inOrder = sortJobs(wanted, "state");
  const waiting = inOrder.filter(({ state }) => state === "waiting");
  return [
    ...inOrder.filter(({ state }) => state === "running"),
    ...waiting.slice(0, limit),
    ...ENDED.flatMap((word) => inOrder.filter(({ state }) => state === word).slice(0, limit)),
  ];
}

export function sortJobs(jobs: readonly QueueJob[], order: QueueOrder): QueueJob[] {
  return jobs.toSorted((one, other) => compare(one, other, order) || other.id - one.id);
}

function compare(one: QueueJob, other: QueueJob, order: QueueOrder): number {
  switch (order) {
    case "id":
      return 0;
    case "time":
      return sinceOf(one) - sinceOf(other);
    case "priority":
      return other.priority - one.priority || one.id - other.id;
    case "state":
      return rankOf(one) - rankOf(other) || withinState(one, other);
    default:
      return order satisfies never;
  }
}

function rankOf({ state }: QueueJob): number {
  return state === "running" ? 0 : state === "waiting" ? 1 : 2;
}

/** Waiting jobs as they will start; others: the newest first. */
function withinState(one: QueueJob, other: QueueJob): number {
  if (one.state === "waiting")
    return Number(one.isHeld) - Number(other.isHeld) || other.priority - one.priority || one.id - other.id;
  return rankOf(one) === 2 ? (other.endedAt ?? 0) - (one.endedAt ?? 0) : 0;
}

function sinceOf({ startedAt, enqueuedAt }: QueueJob): number {
  return startedAt ?? enqueuedAt;
}

/** `… 480 more waiting, 12 more succeeded`. */
function moreLine(
  { counts }: ShownQueue,
  shown: readonly QueueJob[],
  { states }: QueueChoice,
  { signs }: QueueLook,
): Span[][] {
  const words = (["waiting", ...ENDED] as const).filter(
    (word) => states.length === 0 || states.includes(word),
  );
  const parts = words.flatMap((word) => {
    const left = counts[word] - shown.filter(({ state }) => state === word).length;
    return left > 0 ? [`${left} more ${word}`] : [];
  });
  return parts.length === 0 ? [] : [[span(`${signs.ellipsis} ${parts.join(", ")}`, "dim")]];
}
