// Computes free memory: the least that the kernel and every cgroup, from the own one upwards, leave. Swap never counts.

import type { Capacity } from "../../model/machine.js";
import { type Facts, factsOf, parseNumber } from "./probe-facts.js";

const KB_PER_MB = 1024;

export function parseMemory(facts: Facts): Capacity["memory"] {
  const host = hostMemory(parseMeminfo(factsOf(facts, "meminfo")));
  if (host === null) return null;
  const limits = factsOf(facts, "memlimit")
    .map(parseMemoryLimit)
    .filter((limit) => limit !== null)
    .filter((limit) => limit.totalKb < host.totalKb);
  const totalKb = Math.min(host.totalKb, ...limits.map((limit) => limit.totalKb));
  const freeKb = Math.min(totalKb, host.freeKb, ...limits.map((limit) => limit.freeKb));
  if (totalKb === NO_LIMIT_KB) return null;
  return { totalMb: Math.floor(totalKb / KB_PER_MB), freeMb: Math.floor(freeKb / KB_PER_MB) };
}

/** Cgroup v1 writes almost 2^63 bytes where there is no limit. */
const NO_LIMIT_KB = 2 ** 50;

/** Null: unknown. lxcfs has been seen to report 0 in all; then only the limits of cgroups count. */
function hostMemory(info: ReadonlyMap<string, number>): { totalKb: number; freeKb: number } | null {
  const totalKb = info.get("MemTotal");
  if (totalKb === 0) return { totalKb: NO_LIMIT_KB, freeKb: NO_LIMIT_KB };
  const freeKb = info.get("MemAvailable") ?? oldKernelFreeKb(info);
  return totalKb === undefined || freeKb === null ? null : { totalKb, freeKb };
}

function parseMeminfo(lines: readonly string[]): Map<string, number> {
  const info = new Map<string, number>();
  for (const line of lines) {
    const [, key, kb] = /^(\w+): +(\d+) kB$/.exec(line) ?? [];
    const number = parseNumber(kb);
    if (key !== undefined && number !== null) info.set(key, number);
  }
  return info;
}

/** Kernels before 3.14 have no MemAvailable. */
function oldKernelFreeKb(info: ReadonlyMap<string, number>): number | null {
  const [free, buffers, cached] = [info.get("MemFree"), info.get("Buffers"), info.get("Cached")];
  if (free === undefined || buffers === undefined || cached === undefined) return null;
  const sum = free + buffers + cached + (info.get("SReclaimable") ?? 0) - (info.get("Shmem") ?? 0);
  return Math.max(0, sum);
}

/** `<limit> <current> <inactive_file> <path>`, in bytes. Memory that is not known to be reclaimable counts as used. */
function parseMemoryLimit(line: string): { totalKb: number; freeKb: number } | null {
  const [limit, current, inactive] = line.split(" ").map((word) => parseNumber(word, 2 ** 64));
  if (limit == null || current == null) return null;
  const used = Math.max(0, current - (inactive ?? 0));
  return { totalKb: limit / 1024, freeKb: Math.max(0, limit - used) / 1024 };
}
