// Machines, cards and requirements for tests, with ordinary defaults.

import type { GpuRequirement, Requirement } from "../../../src/model/job.js";
import type {
  Capacity,
  CardHolder,
  Claim,
  ClaimedCard,
  Gpu,
  MachineSpec,
} from "../../../src/model/machine.js";
import { planSlots, type SlotPlan } from "../../../src/plan/slots/slots.js";

export function aSpec(facts: Partial<MachineSpec> = {}): MachineSpec {
  return {
    name: "a.yaml",
    address: { kind: "local" },
    gpus: null,
    excludeGpus: [],
    maxJobs: null,
    scratch: null,
    file: null,
    env: {},
    setup: [],
    hasPlainSlots: false,
    keepFree: { memoryMb: 0, cpus: 0, gpus: 0 },
    ...facts,
  };
}

/** If it computes, another person's process is on it. */
export function aGpu(facts: Partial<Gpu> = {}): Gpu {
  const index = facts.index ?? 0;
  return {
    vendor: "nvidia",
    index,
    uuid: `GPU-${index}`,
    name: "NVIDIA GeForce RTX 3090",
    memoryTotalMb: 24576,
    memoryFreeMb: 24000,
    utilization: 0,
    unusable: null,
    isExclusive: false,
    sharesHostMemory: false,
    isMig: false,
    ...((facts.utilization ?? 0) > 0 && { holders: [aHolder()] }),
    ...facts,
  };
}

export function aHolder(facts: Partial<CardHolder> = {}): CardHolder {
  return { pid: 4242, user: "alice", program: "python", memoryMb: 400, isClaimed: false, ...facts };
}

export function gpus(...facts: Partial<Gpu>[]): Gpu[] {
  return facts.map((gpu, index) => aGpu({ index, ...gpu }));
}

export function aCapacity(facts: Partial<Capacity> = {}): Capacity {
  return {
    hostname: "host",
    identity: "",
    shell: "bash",
    cpus: { total: 64, free: 64 },
    memory: { totalMb: 256_000, freeMb: 250_000 },
    gpus: [],
    gpuProblem: null,
    claims: [],
    ...facts,
  };
}

export function aClaim(facts: Partial<Claim> = {}): Claim {
  return {
    owner: "",
    batch: "other",
    job: "",
    slot: "0",
    memoryMb: 0,
    residentMb: 0,
    cpus: 0,
    cards: [],
    resources: [],
    reservesMachine: false,
    ...facts,
  };
}

/** Of a job that shares the card. */
export function aCardClaim(facts: Partial<ClaimedCard> = {}): ClaimedCard {
  return { uuid: "GPU-0", memoryMb: 0, share: 0, amount: 0, usedMb: null, ...facts };
}

export function aNeed(facts: Partial<Requirement> = {}): Requirement {
  return { cpus: 1, memoryMb: 7000, gpu: null, reservesMachine: false, ...facts };
}

/** The defaults of the options. */
export function aGpuNeed(facts: Partial<GpuRequirement> = {}): GpuRequirement {
  return { count: 1, memoryMb: 1000, utilization: 0.75, isReserved: true, ...facts };
}

export function planFor(
  capacity: Partial<Capacity>,
  requirement: Partial<Requirement>,
  spec: Partial<MachineSpec> = {},
): SlotPlan {
  return planSlots({ spec: aSpec(spec), capacity: aCapacity(capacity), requirement: aNeed(requirement) });
}

/** The indices of the cards of each slot. */
export function cardsOfSlots({ slots }: SlotPlan): number[][] {
  return slots.map((slot) => slot.gpus.map(({ index }) => index));
}
