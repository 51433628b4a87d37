// What the record keeps of a queue, and the capacity that queues of this computer share. Pure.

import {
  type Capacities,
  DEFAULT_QUEUE,
  type KeptQueue,
  type Queue,
  type QueueSpec,
} from "../model/queue.js";

export const DEFAULT_SPEC: QueueSpec = {
  name: DEFAULT_QUEUE,
  capacity: null,
  machines: [],
  cwd: null,
  prefix: [],
  envNames: [],
  maxJobs: null,
  ahead: null,
  notify: null,
};

export function keptOf({ isPaused: _, createdAt: _c, ...kept }: Queue): KeptQueue {
  return kept;
}

/** `capacity`: what queues share that declare nothing; null: each has what is measured. */
export function withPool(queue: KeptQueue, capacity: Capacities | null): KeptQueue {
  return sharesPool(queue) && capacity !== null ? { ...queue, capacity, pool: DEFAULT_QUEUE } : queue;
}

/** It declares nothing of its own, and uses this computer. */
export function sharesPool({ capacity, pool, machines, joinedOnly }: KeptQueue): boolean {
  return machines.length === 0 && !joinedOnly && (capacity === null || pool === DEFAULT_QUEUE);
}
