// Chooses the ticks of a time axis, at round times. Pure.

import { formatDuration } from "../report/text/amounts.js";

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const STEPS = [
  100,
  200,
  500,
  ...[1, 2, 5, 10, 15, 30].map((count) => count * SECOND),
  ...[1, 2, 5, 10, 15, 30].map((count) => count * MINUTE),
  ...[1, 2, 3, 6, 12].map((count) => count * HOUR),
  ...[1, 2, 7, 14, 30, 90, 365].map((count) => count * DAY),
];

/** At most `most` ticks besides the one at 0. */
export function clockTicks(lengthMs: number, most: number): { atMs: number; label: string }[] {
  const step = STEPS.find((each) => lengthMs / each <= most) ?? lengthMs / most;
  const count = Math.floor(lengthMs / step);
  return Array.from({ length: count + 1 }, (_, index) => ({
    atMs: index * step,
    label: formatTime(index * step).replace(/(?<=[mhd])00[smh]$/, ""),
  }));
}

export function formatTime(ms: number): string {
  return ms % SECOND === 0 || ms >= MINUTE ? formatDuration(ms) : `${(ms / SECOND).toFixed(1)}s`;
}
