// Queues and jobs for a record of the service.

import type { QueueSpec } from "../../../src/model/queue.js";
import type { NewJob } from "../../../src/service/store/job-row.js";

export function aQueue(over: Partial<QueueSpec> = {}): QueueSpec {
  return {
    name: "default",
    capacity: null,
    machines: [],
    cwd: null,
    prefix: [],
    envNames: [],
    maxJobs: null,
    ahead: null,
    notify: null,
    ...over,
  };
}

export function aNewJob(id: number, over: Partial<NewJob> = {}): NewJob {
  return {
    id,
    name: null,
    command: `python train.py --seed ${id}`,
    cwd: "/home/me/project",
    need: { cpus: 1, memoryMb: 0, gpu: null, reservesMachine: false },
    priority: 0,
    after: [],
    terms: {},
    isHeld: false,
    environment: null,
    enqueuedAt: 1000 + id,
    results: `/state/results/default/job/${id}`,
    ...over,
  };
}
