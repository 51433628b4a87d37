// What a job of a queue needs: only what was asked for. The service takes from the queue what the queue declares.

import type { Requirement } from "../../../model/job.js";
import type { Capacities } from "../../../model/queue.js";
import { type RawRequirement, resolveRequirement } from "../requirement-options.js";

const OF_CARDS = [
  "gpusPerJob",
  "gpuMemoryRequired",
  "gpuUtilization",
  "gpuModel",
  "gpuMemoryTotal",
  "reserveGpu",
] as const;

/** `said`: without defaults. `capacity`: of the queue. */
export function askedNeed(said: Partial<RawRequirement>, capacity: Capacities | null): Requirement {
  const gpuRequired = said.gpuRequired ?? OF_CARDS.some((key) => said[key] !== undefined);
  return resolveRequirement({
    gpusPerJob: 1,
    reserveGpu: true,
    numCpus: capacity === null ? 1 : 0,
    memoryRequired: 0,
    ...said,
    gpuRequired,
  });
}
