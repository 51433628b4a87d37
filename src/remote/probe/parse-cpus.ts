// Counts the cores that jobs may use, and how many of them are idle now.

import type { Capacity } from "../../model/machine.js";
import { type Facts, factsOf, parseNumber } from "./probe-facts.js";

const MOST_CPUS = 65536;

export function parseCpus(facts: Facts): Capacity["cpus"] {
  const allowed = countCpus(factsOf(facts, "allowed")[0]);
  const busy = busyShare(factsOf(facts, "stat"));
  if (allowed === null || busy === null) return null;
  const limits = cpuLimits(facts);
  const total = Math.min(allowed, ...limits.map(({ cpus }) => cpus));
  const free = Math.min(
    allowed * (1 - busy),
    ...limits.map(({ cpus, used }) => (used === null ? cpus * (1 - busy) : Math.max(0, cpus - used))),
  );
  return { total: round(total), free: round(free) };
}

/** `0-3,8` means five cores. */
function countCpus(list: string | undefined): number | null {
  if (list === undefined) return null;
  let count = 0;
  for (const range of list.trim().split(",")) {
    const [first, last = first] = range.split("-").map((part) => parseNumber(part, MOST_CPUS));
    if (first == null || last == null || last < first) return null;
    count += last - first + 1;
  }
  return count > 0 && count <= MOST_CPUS ? count : null;
}

/** From the first and the last reading of the first line of /proc/stat. */
function busyShare(looks: readonly string[]): number | null {
  const [before, after] = [cpuTicks(looks[0]), cpuTicks(looks.at(-1))];
  if (before === null || after === null) return null;
  const all = after.all - before.all;
  if (!(all > 0)) return null;
  return Math.min(1, Math.max(0, 1 - (after.idle - before.idle) / all));
}

/** user nice system idle iowait irq softirq steal; the two guest columns after them are within user and nice. */
function cpuTicks(line: string | undefined): { all: number; idle: number } | null {
  const ticks = (line ?? "")
    .split(/ +/)
    .slice(1, 9)
    .map((word) => parseNumber(word));
  const known = ticks.filter((tick) => tick !== null);
  const [, , , idle, iowait] = known;
  if (known.length < ticks.length || idle === undefined || iowait === undefined) return null;
  return { all: known.reduce((sum, tick) => sum + tick, 0), idle: idle + iowait };
}

interface CpuLimit {
  readonly cpus: number;
  /** Cores in use by all processes of that cgroup; null: unknown. */
  readonly used: number | null;
}

/** The quotas of the own cgroup and of those above it, with their first and last reading. */
function cpuLimits(facts: Facts): CpuLimit[] {
  const seconds = elapsedSeconds(facts);
  const looks = factsOf(facts, "cpulimit")
    .map(parseCpuLimit)
    .filter((look) => look !== null);
  const lastLooks = new Map(looks.map((look) => [look.path, look]));
  const firstLooks = new Map(looks.toReversed().map((look) => [look.path, look]));
  return [...firstLooks.values()].map(({ path, cpus, usedSeconds: before }) => {
    const after = lastLooks.get(path)?.usedSeconds ?? null;
    const isKnown = seconds !== null && before !== null && after !== null;
    return { cpus, used: isKnown ? Math.max(0, after - before) / seconds : null };
  });
}

/** `<used> us|ns <quota> <period> <path>` */
function parseCpuLimit(line: string): { cpus: number; usedSeconds: number | null; path: string } | null {
  const [usedText, unit, quotaText, periodText, ...path] = line.split(" ");
  const [quota, period, used] = [parseNumber(quotaText), parseNumber(periodText), parseNumber(usedText)];
  if (!quota || !period) return null;
  const usedSeconds = used === null ? null : used / (unit === "ns" ? 1e9 : 1e6);
  return { cpus: quota / period, usedSeconds, path: path.join(" ") };
}

function elapsedSeconds(facts: Facts): number | null {
  const looks = factsOf(facts, "uptime").map((line) => parseNumber(line.split(" ")[0]));
  const [first, last] = [looks[0], looks.at(-1)];
  return first == null || last == null || last <= first ? null : last - first;
}

function round(cpus: number): number {
  return Math.round(cpus * 100) / 100;
}
