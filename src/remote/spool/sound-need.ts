// What a manifest says that a job needs. It comes from a machine, and is written into scripts for other machines.

import type { Placing } from "../../model/batch.js";
import type { GpuRequirement, Requirement } from "../../model/job.js";
import { isPooledName, isResourceAmount, MOST_AMOUNTS } from "../../model/resource.js";

/** Undefined: it is no requirement. */
export function soundRequirement(value: unknown): Requirement | undefined {
  if (!isObject(value)) return undefined;
  const { cpus, memoryMb, gpu, reservesMachine } = value;
  if (!isAmount(cpus) || !isAmount(memoryMb) || typeof reservesMachine !== "boolean") return undefined;
  const resources = soundResources(value.resources);
  const cards = gpu === null ? null : soundGpu(gpu);
  if (resources === undefined || cards === undefined) return undefined;
  const isNamed = Object.keys(resources).length > 0;
  return { cpus, memoryMb, gpu: cards, reservesMachine, ...(isNamed && { resources }) };
}

export function soundPlacing(value: unknown): Placing | undefined {
  if (!isObject(value)) return undefined;
  const { packs, isPolite } = value;
  const placing = { ...(packs === true && { packs }), ...(isPolite === true && { isPolite }) };
  return Object.keys(placing).length > 0 ? placing : undefined;
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
  const { model, memoryTotalMb } = value;
  if (!(model === undefined || isModel(model)) || !(memoryTotalMb === undefined || isAmount(memoryTotalMb)))
    return undefined;
  const need = {
    count,
    memoryMb,
    utilization,
    isReserved,
    ...(model !== undefined && { model }),
    ...(memoryTotalMb !== undefined && { memoryTotalMb }),
  };
  if (listed === undefined) return need;
  return Array.isArray(listed) && listed.every(isCard) ? { ...need, listed } : undefined;
}

function isModel(value: unknown): value is string {
  return typeof value === "string" && value.length <= 100 && !/\p{C}/u.test(value);
}

/** Undefined: they are no resources. */
function soundResources(value: unknown): Requirement["resources"] | undefined {
  if (value === undefined) return {};
  if (!isObject(value) || Array.isArray(value)) return undefined;
  const entries = Object.entries(value);
  const isSound = entries.every(([name, amounts]) => isPooledName(name) && areAmounts(amounts));
  return isSound && entries.length <= MOST_AMOUNTS ? (value as Requirement["resources"]) : undefined;
}

function areAmounts(value: unknown): value is number[] {
  return (
    Array.isArray(value) &&
    value.length > 0 &&
    value.length <= MOST_AMOUNTS &&
    value.every((amount) => isResourceAmount(amount))
  );
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
