// What a manifest says that a job needs. It comes from a machine, and is written into scripts for other machines.

import type { GpuRequirement, Requirement } from "../../model/job.js";

/** Undefined: it is no requirement. */
export function soundRequirement(value: unknown): Requirement | undefined {
  if (!isObject(value)) return undefined;
  const { cpus, memoryMb, gpu, reservesMachine } = value;
  if (!isAmount(cpus) || !isAmount(memoryMb) || typeof reservesMachine !== "boolean") return undefined;
  if (gpu === null) return { cpus, memoryMb, gpu, reservesMachine };
  const cards = soundGpu(gpu);
  return cards && { cpus, memoryMb, gpu: cards, reservesMachine };
}

/** Null: there is no time limit, or it is none. */
export function soundSeconds(value: unknown): number | null {
  return isAmount(value) ? value : null;
}

/** A whole number of at most so many digits: keys of attempts have it, which are not quoted. */
export function isDigits(value: unknown, most: number): value is number {
  return Number.isSafeInteger(value) && isAmount(value) && value < 10 ** most;
}

function soundGpu(value: unknown): GpuRequirement | undefined {
  if (!isObject(value)) return undefined;
  const { count, memoryMb, utilization, isReserved, listed } = value;
  if (!isAmount(count) || !isAmount(memoryMb) || !isAmount(utilization) || typeof isReserved !== "boolean")
    return undefined;
  const need = { count, memoryMb, utilization, isReserved };
  if (listed === undefined) return need;
  return Array.isArray(listed) && listed.every(isCard) ? { ...need, listed } : undefined;
}

function isCard(value: unknown): value is number | string {
  return isAmount(value) || (typeof value === "string" && /^[\w/-]{1,96}$/.test(value));
}

function isAmount(value: unknown): value is number {
  return typeof value === "number" && Number.isFinite(value) && value >= 0;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null;
}
