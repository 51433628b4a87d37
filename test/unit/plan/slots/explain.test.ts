import { expect, test } from "vitest";
import type { Requirement } from "../../../../src/model/job.js";
import type { Capacity, MachineSpec } from "../../../../src/model/machine.js";
import { explain } from "../../../../src/plan/slots/explain.js";
import { aCapacity, aCardClaim, aClaim, aGpuNeed, aNeed, gpus, planFor } from "../a-machine.js";

function explained(
  capacity: Partial<Capacity>,
  requirement: Partial<Requirement>,
  spec: Partial<MachineSpec> = {},
): string[] {
  return explain("a.yaml", {
    capacity: aCapacity(capacity),
    requirement: aNeed(requirement),
    plan: planFor(capacity, requirement, spec),
  });
}

test("memory: how much is short, and which option to lower", () => {
  expect(explained({ memory: { totalMb: 8000, freeMb: 5120 } }, { memoryMb: 7000 })).toEqual([
    "a.yaml: memory: a job needs 7000 MB, 5120 MB are free: 1880 MB short (lower --memory-required, now 7000)",
  ]);
});

test("cores", () => {
  expect(explained({ cpus: { total: 4, free: 3.3 } }, { cpus: 8 })).toEqual([
    "a.yaml: cores: one more job needs 8, there is room for 5.3 (lower --num-cpus, now 8)",
  ]);
});

test("unknown values are reported as unknown", () => {
  expect(explained({ cpus: null, memory: null }, {})).toEqual([
    "a.yaml: memory: cannot read how much is free, so the machine gets no job",
    "a.yaml: cores: cannot read how many are free, so the machine gets no job",
  ]);
});

test("no card at all: the driver's message, and the option for jobs without a card", () => {
  expect(explained({ gpuProblem: "Driver/library version mismatch" }, { gpu: aGpuNeed() })).toEqual([
    "a.yaml: GPU: a job needs one, none was found: Driver/library version mismatch (jobs that use no GPU: --no-gpu-required)",
  ]);
});

test("each unsuitable card has its reason, and cards with the same reason share a line", () => {
  const cards = gpus(
    { memoryFreeMb: 812 },
    { unusable: "needs a reset" },
    { memoryFreeMb: null },
    { utilization: 0.6 },
    { unusable: "needs a reset" },
    {},
  );
  const claims = [aClaim({ batch: "other", cards: [aCardClaim({ uuid: "GPU-5", amount: 1 })] })];
  expect(explained({ gpus: cards, claims }, { gpu: aGpuNeed({ memoryMb: 3000 }) })).toEqual([
    "a.yaml: GPU 0: memory: a job needs 3000 MB, 812 MB are free: 2188 MB short (lower --gpu-memory-required, now 3000)",
    "a.yaml: GPU 1, 4: not used: it needs a reset",
    "a.yaml: GPU 2: its free memory cannot be read, so it gets no job",
    "a.yaml: GPU 3: 60 % in use, a job uses about 75 %, the limit is 120 % (lower --gpu-utilization, now 0.75)",
    "a.yaml: GPU 5: taken by the batch other",
  ]);
});

test("several cards per job: how many are suitable", () => {
  expect(explained({ gpus: gpus({}) }, { gpu: aGpuNeed({ count: 2 }) })).toEqual([
    "a.yaml: GPU: a job needs 2, suitable: 1 (lower --gpus-per-job, now 2)",
  ]);
});

test("limits of the machine file are named as written there", () => {
  expect(explained({ gpus: gpus({}) }, { gpu: aGpuNeed() }, { excludeGpus: [0] })).toEqual([
    "a.yaml: GPU 0: left out by gpus or exclude_gpus in its machine file",
  ]);
  const keepFree = { memoryMb: 0, cpus: 0, gpus: 1 };
  expect(explained({ gpus: gpus({}) }, { gpu: aGpuNeed() }, { keepFree })).toEqual([
    "a.yaml: GPU 0: kept free for people (keep_free in its machine file, or --polite)",
  ]);
  expect(explained({ claims: [aClaim()] }, {}, { maxJobs: 1 })).toEqual([
    "a.yaml: its machine file has max_jobs: 1, and other batches use 1",
  ]);
});

test("the whole machine", () => {
  expect(explained({ claims: [aClaim({ batch: "b", reservesMachine: true })] }, {})).toEqual([
    "a.yaml: the whole machine is reserved by the batch b",
  ]);
  expect(explained({ claims: [aClaim({ batch: "b" })] }, { reservesMachine: true })).toEqual([
    "a.yaml: --reserve needs the whole machine, but the batch b has jobs on it",
  ]);
});

test("a card that uses the machine's memory: both options", () => {
  const cards = gpus({ sharesHostMemory: true, memoryFreeMb: null });
  const memory = { totalMb: 8000, freeMb: 7500 };
  expect(explained({ gpus: cards, memory }, { gpu: aGpuNeed() })).toEqual([
    "a.yaml: memory: a job needs 8000 MB, 7500 MB are free: 500 MB short (lower --memory-required, now 7000, or --gpu-memory-required, now 1000: its GPU uses the machine's memory)",
  ]);
});

test("cards of another model, and cards that are too small", () => {
  const cards = gpus({}, { name: "NVIDIA A100" });
  expect(explained({ gpus: cards }, { gpu: aGpuNeed({ model: "A100", memoryTotalMb: 40_000 }) })).toEqual([
    "a.yaml: GPU 0, 1: of another model (--gpu-model, now A100), or too small (--gpu-memory-total, now 40000)",
  ]);
});

test("parts of cards, resources, and other accounts", () => {
  const claims = [aClaim({ owner: "bob", batch: "b", cards: [aCardClaim({ amount: 0.6 })] })];
  expect(explained({ gpus: gpus({}), claims }, { gpu: aGpuNeed({ count: 0.5, utilization: 0.5 }) })).toEqual([
    "a.yaml: GPU 0: a job needs 0.5 of a card, 0.4 is free (lower --gpus-per-job, now 0.5)",
  ]);
  expect(explained({ gpus: gpus({}), claims }, { gpu: aGpuNeed() })).toEqual([
    "a.yaml: GPU 0: taken by the batch b of bob",
  ]);
  expect(explained({}, { resources: { licence: [2] } }, { resources: { licence: { a: 1 } } })).toEqual([
    "a.yaml: licence: a job needs 2, 1 free",
  ]);
  expect(explained({}, { resources: { licence: [2] } }, { resources: { disk: { a: 1 } } })).toEqual([
    "a.yaml: licence: a job needs 2, the machine file declares none (resources:)",
  ]);
});
