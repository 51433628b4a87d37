// What a job of a queue needs of a machine. A queue can declare resources of its own: its jobs share them, and no other job
// sees them. Cards that a machine really has are measured, whatever the queue declares.

import type { Requirement } from "../../model/job.js";
import type { Capacities, Queue, QueueSpec } from "../../model/queue.js";

type Pool = Pick<Queue, "name" | "capacity" | "pool">;

/** Without any option. The cores of a queue with a capacity are what it declares. */
export function usualNeed({ capacity }: Pick<QueueSpec, "capacity">): Requirement {
  return { cpus: capacity === null ? 1 : 0, memoryMb: 0, gpu: null, reservesMachine: false };
}

/** The name of a declared resource in claims, where all queues of all accounts meet. */
function pooledName(resource: string, queue: string): string {
  return `${resource}@${queue}`;
}

/** What machines of the queue have besides what is measured. `hasCards`: the machine has real ones. */
export function pooledResources({ name, capacity, pool = name }: Pool, hasCards: boolean): Capacities {
  const declared = Object.entries(capacity ?? {}).filter(([resource]) => !(resource === "gpu" && hasCards));
  return Object.fromEntries(declared.map(([resource, instances]) => [pooledName(resource, pool), instances]));
}

/** The need in terms of what the queue declares, where it declares it. */
export function pooledNeed(
  need: Requirement,
  { name, capacity, pool = name }: Pool,
  hasCards: boolean,
): Requirement {
  if (capacity === null) return need;
  const { cpus, memoryMb, gpu, resources = {}, ...rest } = need;
  const isDeclared = (resource: string) => Object.hasOwn(capacity, resource);
  const takesCards = isDeclared("gpu") && gpu !== null && !hasCards;
  const takesCores = isDeclared("cpu") && cpus > 0;
  const takesMemory = isDeclared("memory") && memoryMb > 0;
  const pooled = {
    ...(takesCards && { [pooledName("gpu", pool)]: [gpu.count] }),
    ...(takesCores && { [pooledName("cpu", pool)]: [cpus] }),
    ...(takesMemory && { [pooledName("memory", pool)]: [memoryMb] }),
    ...renamed(resources, (resource) => (isDeclared(resource) ? pooledName(resource, pool) : resource)),
  };
  return {
    ...rest,
    cpus: takesCores ? 0 : cpus,
    memoryMb: takesMemory ? 0 : memoryMb,
    gpu: takesCards ? null : gpu,
    ...(Object.keys(pooled).length > 0 && { resources: pooled }),
  };
}

/** Only this computer has it, in queues that have other machines as well. */
const PINNING = "this-computer";
/** More jobs never run at a time. */
const MOST_PINNED = 1_000_000;

/** What this computer has besides, in a queue with other machines. */
export function pinningResource(queue: string): Capacities {
  return { [pooledName(PINNING, queue)]: { "0": MOST_PINNED } };
}

/** For a job that has no copy of its directory: it can run on this computer alone. */
export function pinned(need: Requirement, queue: string): Requirement {
  return { ...need, resources: { ...need.resources, [pooledName(PINNING, queue)]: [1] } };
}

function renamed<T>(
  record: Readonly<Record<string, T>>,
  nameOf: (name: string) => string,
): Record<string, T> {
  return Object.fromEntries(Object.entries(record).map(([name, value]) => [nameOf(name), value]));
}

/** Names of what a job got, as its user knows them. */
export function unpooled<T>(got: Readonly<Record<string, T>>): Record<string, T> {
  const { [PINNING]: _, ...own } = renamed(got, (name) => name.replace(/@.*$/, ""));
  return own;
}
