import { expect, test } from "vitest";
import type { Requirement } from "../../../../src/model/job.js";
import {
  pinned,
  pinningResource,
  pooledNeed,
  pooledResources,
  unpooled,
  usualNeed,
} from "../../../../src/plan/queue/queue-need.js";

const GPU = { count: 0.5, memoryMb: 0, utilization: 0.5, isReserved: false };
const POOL = { name: "train", capacity: { gpu: { "0": 1, "1": 1 }, ram: { "0": 512 } } };

function aNeed(over: Partial<Requirement> = {}): Requirement {
  return { cpus: 0, memoryMb: 0, gpu: null, reservesMachine: false, ...over };
}

test("a job needs a core, or nothing if its queue declares what it has", () => {
  expect(usualNeed({ capacity: null }).cpus).toBe(1);
  expect(usualNeed({ capacity: {} }).cpus).toBe(0);
});

test("a card of a queue without real cards is one that it declares", () => {
  const need = pooledNeed(aNeed({ gpu: GPU }), POOL, false);
  expect(need).toEqual({ ...aNeed(), resources: { "gpu@train": [0.5] } });
});

test("real cards are measured, whatever the queue declares", () => {
  expect(pooledNeed(aNeed({ gpu: GPU }), POOL, true).gpu).toEqual(GPU);
  expect(Object.keys(pooledResources(POOL, true))).toEqual(["ram@train"]);
});

test("two queues that declare the same resource do not share it", () => {
  const need = aNeed({ resources: { ram: [100] } });
  const own = pooledNeed(need, POOL, false).resources;
  const other = pooledNeed(need, { ...POOL, name: "test" }, false).resources;
  expect([own, other]).toEqual([{ "ram@train": [100] }, { "ram@test": [100] }]);
});

test("resources of the machine file keep their name", () => {
  const need = aNeed({ resources: { licence: [1] } });
  expect(pooledNeed(need, POOL, false).resources).toEqual({ licence: [1] });
});

test("cores and memory are declared where the queue declares them", () => {
  const pool = { name: "q", capacity: { cpu: { "0": 4 }, memory: { "0": 1000 } } };
  const need = pooledNeed(aNeed({ cpus: 2, memoryMb: 300 }), pool, false);
  expect(need).toEqual({ ...aNeed(), resources: { "cpu@q": [2], "memory@q": [300] } });
});

test("what a job got has the names that its user knows", () => {
  expect(unpooled({ "gpu@train": ["0"], licence: ["1"] })).toEqual({ gpu: ["0"], licence: ["1"] });
});

test("a job that must stay on this computer needs what only this computer has, and does not report that it got it", () => {
  const { resources = {} } = pinned(aNeed({ resources: { licence: [1] } }), "train");
  const [name = ""] = Object.keys(pinningResource("train"));
  expect(resources).toEqual({ licence: [1], [name]: [1] });
  expect(unpooled({ [name]: ["0"], "gpu@train": ["1"] })).toEqual({ gpu: ["1"] });
});
