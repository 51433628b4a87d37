// The timeline: when each attempt ran in its slot. Starts and ends are the times at which this computer learned of
// them, which is late if no client followed the batch; durations are exact. So each attempt is placed where all three
// agree.

import { type Attempt, courseOf, type Ending } from "../model/attempt.js";
import type { Span } from "../model/result.js";
import { endingOf } from "../model/standing.js";

/** By `job attempt`, in the order in which they began. */
export function spansOf(attempts: Iterable<Attempt>, now: number): Map<string, Span> {
  const spans: Span[] = [];
  /** By slot: the start of the next attempt. A slot runs one job at a time. */
  const nextStart = new Map<string, number>();
  const begun = [...attempts].sort(byStart);
  for (const { job, number, machine, stage, isCurrent } of begun.reverse()) {
    const { slot } = courseOf(stage);
    if (slot === null) continue;
    const place = JSON.stringify([machine, slot]);
    const isRunning = stage.kind === "running" && isCurrent;
    const time =
      "outcome" in stage ? closedTime(stage, nextStart.get(place)) : openTime(stage, now, isRunning);
    if (time === null) continue;
    nextStart.set(place, time.start);
    spans.push({ job, attempt: number, machine, slot, ...time, state: stateOf(stage) });
  }
  return new Map(spans.reverse().map((span) => [`${span.job} ${span.attempt}`, span]));
}

interface Time {
  readonly start: number;
  readonly end: number;
}

/** Of attempts that were learned of at the same time, earlier jobs and earlier attempts come first. */
function byStart(one: Attempt, other: Attempt): number {
  const [before, after] = [learnedAt(one), learnedAt(other)];
  return before === after ? one.number - other.number || one.job - other.job : before - after;
}

function learnedAt({ stage }: Attempt): number {
  return courseOf(stage).startedAt ?? ("endedAt" in stage ? stage.endedAt : null) ?? Number.POSITIVE_INFINITY;
}

function openTime(stage: Attempt["stage"], now: number, isRunning: boolean): Time | null {
  const { startedAt } = courseOf(stage);
  return !isRunning || startedAt === null ? null : { start: startedAt, end: Math.max(startedAt, now) };
}

function closedTime(
  { startedAt, endedAt, durationMs }: Ending,
  next = Number.POSITIVE_INFINITY,
): Time | null {
  if (endedAt === null) return null;
  const start = Math.min(startedAt ?? endedAt, endedAt - durationMs, next - durationMs);
  return { start, end: start + durationMs };
}

function stateOf(stage: Attempt["stage"]): Span["state"] {
  if (!("outcome" in stage)) return "running";
  return endingOf(stage.outcome);
}
