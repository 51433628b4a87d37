// Formats durations and sizes for people.

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** `45s`, `3m05s`, `2h07m`, `3d04h`. */
export function formatDuration(ms: number): string {
  const whole = Math.max(0, Math.floor(ms / SECOND)) * SECOND;
  if (whole < MINUTE) return `${whole / SECOND}s`;
  if (whole < HOUR) return twoUnits(whole, [MINUTE, "m"], [SECOND, "s"]);
  if (whole < DAY) return twoUnits(whole, [HOUR, "h"], [MINUTE, "m"]);
  return twoUnits(whole, [DAY, "d"], [HOUR, "h"]);
}

/** A minimum duration, without seconds from a minute on: `45s`, `4m`, `2h07m`. */
export function formatAge(ms: number): string {
  return ms < MINUTE || ms >= HOUR ? formatDuration(ms) : `${Math.floor(ms / MINUTE)}m`;
}

/** A rough estimate that does not flicker: `20s`, `8m`, `2h10m`. */
export function formatRoughDuration(ms: number): string {
  if (ms < MINUTE) return `${Math.max(1, Math.ceil(ms / (5 * SECOND))) * 5}s`;
  if (ms < HOUR) return `${Math.round(ms / MINUTE)}m`;
  return formatDuration(Math.round(ms / (10 * MINUTE)) * 10 * MINUTE);
}

/** `512 B`, `12.3 MB`, `140 GB`. */
export function formatBytes(bytes: number): string {
  const units = ["B", "kB", "MB", "GB", "TB"];
  let value = bytes;
  let unit = 0;
  while (value >= 999.5 && unit < units.length - 1) {
    value /= 1000;
    unit += 1;
  }
  const digits = unit === 0 || value >= 99.95 ? 0 : 1;
  return `${value.toFixed(digits)} ${units[unit]}`;
}

type Unit = readonly [ms: number, letter: string];

function twoUnits(ms: number, [big, bigLetter]: Unit, [small, smallLetter]: Unit): string {
  const rest = Math.floor((ms % big) / small);
  return `${Math.floor(ms / big)}${bigLetter}${String(rest).padStart(2, "0")}${smallLetter}`;
}

/** Six digits, more than most metrics need: `0.912346`, `1.5e-7`, `250`. */
export function formatNumber(value: number): string {
  return Number.isInteger(value) && Math.abs(value) < 1e15
    ? String(value)
    : String(Number(value.toPrecision(6)));
}
