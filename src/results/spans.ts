// The timeline: when each attempt ran in its slot. Starts and ends are known by when this computer learned of them, which
// is late if no client followed then; durations are right. So an attempt is put where all three can be true.

import { attemptKey, parseAttemptKey, succeeded } from "../model/job.js";
import type { Seat, Span } from "../model/result.js";

export interface Timeline {
  /** By attempt key, in the order in which they began. */
  readonly seats: ReadonlyMap<string, Seat>;
  readonly isRunning: (line: number, attempt: number) => boolean;
  readonly now: number;
}

export function spansOf({ seats, isRunning, now }: Timeline): Map<string, Span> {
  const spans: Span[] = [];
  /** Of each slot: when what came after began. A slot has one job at a time. */
  const nextStart = new Map<string, number>();
  for (const [key, seat] of [...seats].reverse()) {
    const { machine, slot } = seat;
    const { line, attempt } = parseAttemptKey(key);
    const place = JSON.stringify([machine, slot]);
    const time =
      seat.outcome === null && isRunning(line, attempt)
        ? openTime(seat, now)
        : closedTime(seat, nextStart.get(place));
    if (slot === null || time === null) continue;
    nextStart.set(place, time.start);
    spans.push({ line, attempt, machine, slot, ...time, state: stateOf(seat) });
  }
  return new Map(spans.reverse().map((span) => [attemptKey(span.line, span.attempt), span]));
}

interface Time {
  readonly start: number;
  readonly end: number;
}

function openTime({ startedAt }: Seat, now: number): Time | null {
  return startedAt === null ? null : { start: startedAt, end: Math.max(startedAt, now) };
}

function closedTime({ startedAt, endedAt, durationMs }: Seat, next = Number.POSITIVE_INFINITY): Time | null {
  if (endedAt === null || durationMs === null) return null;
  const start = Math.min(startedAt ?? endedAt, endedAt - durationMs, next - durationMs);
  return { start, end: start + durationMs };
}

function stateOf({ outcome }: Seat): Span["state"] {
  if (outcome === null) return "running";
  return succeeded(outcome) ? "succeeded" : "failed";
}
