import { expect, test } from "vitest";
import { kindOf } from "../../../src/model/job.js";
import type { QueueCounts } from "../../../src/model/queue.js";
import { openDatabase } from "../../../src/service/store/open-database.js";
import { aDir, addJobs, aRecord, SUCCEEDED } from "./a-record.js";
import { aQueue } from "./new-job.js";

const GPU_NEED = {
  cpus: 2,
  memoryMb: 4000,
  gpu: { count: 0.5, memoryMb: 3000, utilization: 0.5, isReserved: false },
  reservesMachine: false,
};

test("a job comes back from a reopened record with everything that it was added with and that happened to it", async () => {
  const dir = aDir();
  const record = await aRecord({}, dir);
  const [first = 0] = addJobs(record, [{}]);
  const asked = {
    name: "train",
    command: "python train.py 'ä\n'",
    need: GPU_NEED,
    priority: -499,
    after: [{ job: first, when: "ended" }],
    terms: { retries: 2, maxOutput: null, tree: "abc", parameters: { lr: "0.1" }, wrap: ["nice"] },
    environment: "e1",
  } as const;
  const [id = 0] = addJobs(record, [asked]);
  const { jobs, transactions } = record;
  const footprint = { memoryMb: 12, cpuMs: 7 };
  transactions.writeNow(() => {
    jobs.give("default", [id], 3);
    jobs.started("default", id, { machine: "gpu1", got: { gpu: ["0", "1"] }, at: 2000, attempt: 1 });
    const outcome = { kind: "exited", code: 1, cause: "out-of-memory" } as const;
    jobs.ended("default", id, { ...SUCCEEDED, state: "failed", outcome, footprint, stderrTail: "no memory" });
  });
  record.close = () => {};
  const again = await openDatabase(dir);
  const { environment, ...shown } = asked;
  expect(again.jobs.findWithInside("default", id)).toEqual({
    job: {
      ...shown,
      queue: "default",
      id: 2,
      cwd: "/home/me/project",
      state: "failed",
      isHeld: false,
      isHere: true,
      attempt: 1,
      machine: "gpu1",
      got: { gpu: ["0", "1"] },
      reason: null,
      enqueuedAt: 1002,
      startedAt: 2000,
      endedAt: 5000,
      durationMs: 3000,
      outcome: { kind: "exited", code: 1, cause: "out-of-memory" },
      footprint,
      stderrTail: "no memory",
      results: "/state/results/default/job/2",
    },
    inside: { kind: kindOf(GPU_NEED), given: 3, turns: 1, environment, unmet: 1 },
  });
  again.close();
});

test("counts follow every change of a job", async () => {
  const record = await aRecord();
  const { jobs, transactions } = record;
  const counts = () => Object.entries(jobs.counts("default")).filter(([, count]) => count > 0);
  addJobs(record, [{}, {}, {}, { isHeld: true }, { isHeld: true }]);
  const seen: [string, number][][] = [counts()];
  const change = (act: () => void) => {
    transactions.writeNow(act);
    seen.push(counts());
  };
  change(() => jobs.started("default", 1, { machine: "a", got: {}, at: 1, attempt: 1 }));
  change(() => jobs.ended("default", 1, SUCCEEDED));
  change(() => jobs.setHeld("default", 4, false));
  change(() => jobs.ended("default", 5, { ...SUCCEEDED, state: "skipped", outcome: null }));
  change(() => jobs.remove("default", [1, 5]));
  change(() => record.queues.remove("default"));
  const of = (counts: Partial<QueueCounts>) => Object.entries(counts);
  expect(seen.map((each) => Object.fromEntries(each))).toEqual(
    [
      of({ waiting: 5, held: 2 }),
      of({ waiting: 4, running: 1, held: 2 }),
      of({ waiting: 4, succeeded: 1, held: 2 }),
      of({ waiting: 4, succeeded: 1, held: 1 }),
      of({ waiting: 3, succeeded: 1, skipped: 1 }),
      of({ waiting: 3 }),
      of({}),
    ].map((each) => Object.fromEntries(each)),
  );
});

test("a generation has the jobs that it was given and did not give back", async () => {
  const record = await aRecord();
  const { jobs, transactions, generations } = record;
  addJobs(record, [{}, {}, {}, {}]);
  const { id } = transactions.writeNow(() => {
    const generation = generations.begin("default", { journal: "j1" }, 5);
    jobs.give("default", [1, 2, 3], generation.id);
    return generation;
  });
  transactions.writeNow(() => {
    jobs.started("default", 2, { machine: "a", got: {}, at: 1, attempt: 1 });
    jobs.ended("default", 2, SUCCEEDED);
    jobs.putBack("default", [3], "its machine drains");
  });
  expect(jobs.givenTo(id).map(({ job }) => [job.id, job.state])).toEqual([
    [1, "waiting"],
    [2, "succeeded"],
  ]);
  expect(jobs.find("default", 3)?.reason).toBe("its machine drains");
  expect(generations.open()).toEqual([
    { id, queue: "default", beganAt: 5, endedAt: null, data: { journal: "j1" } },
  ]);
  transactions.writeNow(() => generations.end(id, 9));
  expect(generations.open()).toEqual([]);
  expect(generations.find(id)?.endedAt).toBe(9);
});

test("a job that is run once more keeps nothing of its last end", async () => {
  const record = await aRecord();
  addJobs(record, [{}]);
  const before = record.jobs.find("default", 1);
  record.transactions.writeNow(() => {
    record.jobs.give("default", [1], 1);
    record.jobs.started("default", 1, { machine: "a", got: { gpu: ["0"] }, at: 1, attempt: 1 });
    record.jobs.ended("default", 1, {
      ...SUCCEEDED,
      state: "failed",
      stderrTail: "x",
      footprint: { cpuMs: 1 },
    });
    record.jobs.putBack("default", [1]);
  });
  expect(record.jobs.find("default", 1)).toEqual({ ...before, attempt: 1 });
  expect(record.heads.of("default").map(({ id }) => id)).toEqual([1]);
});

test("the end of a job names the jobs that come after it", async () => {
  const record = await aRecord();
  addJobs(record, [
    {},
    {},
    { after: [{ job: 1, when: "succeeded" }] },
    { after: [1, 2].map((job) => ({ job, when: "ended" as const })), met: [{ job: 2, when: "ended" }] },
  ]);
  expect(record.edges.dependentsOf("default", 1)).toEqual([
    { job: 3, when: "succeeded", isMet: false },
    { job: 4, when: "ended", isMet: false },
  ]);
  const ready = () => record.heads.firstOf("default", record.heads.of("default")[0]?.kind ?? "", 9);
  expect(ready()).toEqual([1, 2]);
  record.transactions.writeNow(() => record.jobs.setMet("default", 4, { job: 1, when: "ended" }, true));
  expect(ready()).toEqual([1, 2, 4]);
  record.transactions.writeNow(() => record.jobs.setMet("default", 4, { job: 2, when: "ended" }, false));
  expect(ready()).toEqual([1, 2]);
  record.transactions.writeNow(() => record.jobs.remove("default", [3, 4]));
  expect(record.edges.dependentsOf("default", 1)).toEqual([]);
});

test("waiting jobs have a place, by priority and then by id", async () => {
  const record = await aRecord();
  addJobs(record, [{}, { priority: 5 }, { priority: 5, isHeld: true }, { priority: -1 }]);
  expect([1, 2, 3, 4, 9].map((id) => record.jobs.placeOf("default", id))).toEqual([3, 1, 2, 4, null]);
  expect(record.jobs.firstWaiting("default", 3).map(({ id }) => id)).toEqual([2, 3, 1]);
});

test("an id is never given twice, also not by a later queue of the same name", async () => {
  const record = await aRecord();
  addJobs(record, [{}, {}]);
  record.transactions.writeNow(() => {
    record.jobs.remove("default", [2]);
    record.queues.remove("default");
    record.queues.add(aQueue(), null, 2000);
  });
  expect(addJobs(record, [{}])).toEqual([3]);
});

test("queues keep their order, their words and whether they are paused", async () => {
  const record = await aRecord();
  const spec = aQueue({
    name: "gpu",
    capacity: { gpu: { "0": 1 } },
    machines: ["a", "b"],
    envNames: ["KEY"],
  });
  record.transactions.writeNow(() => {
    record.queues.add(spec, "hash", 2000);
    record.queues.setPaused("gpu", true);
  });
  expect(record.queues.all()).toEqual([
    { ...aQueue(), joined: [], isPaused: false, createdAt: 1000 },
    { ...spec, joined: [], isPaused: true, createdAt: 2000 },
  ]);
  expect(record.queues.environmentOf("gpu")).toBe("hash");
  record.transactions.writeNow(() => {
    record.queues.setPaused(null, true);
    record.queues.setPaused("gpu", false);
    record.queues.setSpec({ ...spec, machines: ["b"] });
  });
  expect(record.queues.all().map(({ isPaused, machines }) => [isPaused, machines])).toEqual([
    [true, []],
    [false, ["b"]],
  ]);
  expect(record.queues.find("none")).toBeNull();
});
