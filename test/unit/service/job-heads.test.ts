import fc from "fast-check";
import { expect, test } from "vitest";
import { kindOf } from "../../../src/model/job.js";
import { chooseNext } from "../../../src/plan/queue/choose-next.js";
import { addJobs, aRecord, SUCCEEDED } from "./a-record.js";
import { aNewJob, aQueue } from "./new-job.js";

const need = (cpus: number) => ({ ...aNewJob(1).need, cpus });

test("each kind has one head, and the heads are in the order in which jobs start", async () => {
  const record = await aRecord();
  addJobs(record, [
    { need: need(1) },
    { need: need(1), priority: 1 },
    { need: need(2) },
    { need: need(3), isHeld: true },
    { need: need(4), priority: 1 },
  ]);
  const heads = () => record.heads.of("default").map(({ id, kind }) => [id, kind]);
  const [one, two, four] = [1, 2, 4].map((cpus) => kindOf(need(cpus)));
  expect(heads()).toEqual([
    [2, one],
    [5, four],
    [3, two],
  ]);
  record.transactions.writeNow(() => record.jobs.give("default", [2], 1));
  expect(heads()).toEqual([
    [5, four],
    [1, one],
    [3, two],
  ]);
});

test("cost of scheduling: a decision reads one job of each need, however many wait", async () => {
  const record = await aRecord();
  addJobs(
    record,
    Array.from({ length: 3000 }, (_, n) => ({ need: need((n % 3) + 1) })),
  );
  let read = 0;
  const counted = {
    *[Symbol.iterator]() {
      for (const head of record.heads.of("default")) {
        read++;
        yield head;
      }
    },
  };
  const ahead = { total: 0, byKind: new Map(), last: null };
  expect(chooseNext(counted, ahead, { most: 4, limit: 4 })?.id).toBe(1);
  expect(read).toBe(3);
});

test("heads of an undone change are not kept", async () => {
  const record = await aRecord();
  addJobs(record, [{}, {}]);
  expect(record.heads.of("default").map(({ id }) => id)).toEqual([1]);
  expect(() =>
    record.transactions.writeNow(() => {
      record.jobs.give("default", [1], 1);
      expect(record.heads.of("default").map(({ id }) => id)).toEqual([2]);
      throw new Error("no");
    }),
  ).toThrow("no");
  expect(record.heads.of("default").map(({ id }) => id)).toEqual([1]);
});

test("a removed queue has no heads", async () => {
  const record = await aRecord();
  addJobs(record, [{}]);
  expect(record.heads.of("default")).toHaveLength(1);
  record.transactions.writeNow(() => {
    record.queues.remove("default");
    record.queues.add(aQueue(), null, 1);
  });
  expect(record.heads.of("default")).toEqual([]);
});

/** What the record must answer, computed from all jobs. */
interface ModelJob {
  readonly id: number;
  readonly cpus: number;
  priority: number;
  isHeld: boolean;
  state: "waiting" | "given" | "ended";
}

function headsOf(model: readonly ModelJob[]): number[] {
  const ready = model
    .filter(({ state, isHeld }) => state === "waiting" && !isHeld)
    .sort((a, b) => b.priority - a.priority || a.id - b.id);
  const kinds = new Set<number>();
  return ready
    .filter(({ cpus }) => {
      const isFirst = !kinds.has(cpus);
      kinds.add(cpus);
      return isFirst;
    })
    .map(({ id }) => id);
}

test("after any changes the heads are those of all jobs", async () => {
  const step = fc.record({
    verb: fc.constantFrom("add", "give", "end", "back", "hold", "release", "priority", "remove", "fail"),
    pick: fc.nat(30),
    cpus: fc.integer({ min: 1, max: 4 }),
    priority: fc.integer({ min: -2, max: 2 }),
  });
  const record = await aRecord();
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
      record.transactions.writeNow(() => {
        record.queues.remove("default");
        record.queues.add(aQueue(), null, 1);
      });
      const model: ModelJob[] = [];
      for (const { verb, pick, cpus, priority } of steps) {
        const job = model[pick % Math.max(1, model.length)];
        if (verb === "add") {
          const [id = 0] = addJobs(record, [{ need: need(cpus), priority }]);
          model.push({ id, cpus, priority, isHeld: false, state: "waiting" });
        } else if (job !== undefined) act(verb, job, priority, model);
        expect(record.heads.of("default").map(({ id }) => id)).toEqual(headsOf(model));
      }
    }),
    { numRuns: 40 },
  );

  function act(verb: string, job: ModelJob, priority: number, model: ModelJob[]): void {
    const { jobs, transactions } = record;
    const change = (run: () => void) => transactions.writeNow(run);
    if (verb === "give" && job.state === "waiting") {
      change(() => jobs.give("default", [job.id], 1));
      job.state = "given";
    } else if (verb === "end") {
      change(() => jobs.ended("default", job.id, SUCCEEDED));
      Object.assign(job, { state: "ended", isHeld: false });
    } else if (verb === "back") {
      change(() => jobs.putBack("default", [job.id]));
      job.state = "waiting";
    } else if (verb === "hold" || verb === "release") {
      change(() => jobs.setHeld("default", job.id, verb === "hold"));
      job.isHeld = verb === "hold";
    } else if (verb === "priority") {
      change(() => jobs.setPriority("default", job.id, priority));
      job.priority = priority;
    } else if (verb === "remove") {
      change(() => jobs.remove("default", [job.id]));
      model.splice(model.indexOf(job), 1);
    } else if (verb === "fail") {
      expect(() =>
        change(() => {
          jobs.remove("default", [job.id]);
          record.heads.of("default");
          throw new Error("undone");
        }),
      ).toThrow("undone");
    }
  }
});
