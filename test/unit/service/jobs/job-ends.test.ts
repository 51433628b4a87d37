import fc from "fast-check";
import { expect, test } from "vitest";
import { verdictOf } from "../../../../src/model/dependency.js";
import type { Dependency, Outcome } from "../../../../src/model/job.js";
import {
  endJob,
  reopenJob,
  takeBack,
  turnoutOfState,
  whyNever,
} from "../../../../src/service/jobs/job-ends.js";
import type { ServiceDatabase } from "../../../../src/service/store/open-database.js";
import { addJobs, aRecord } from "../a-record.js";
import { aQueue } from "../new-job.js";

/** What must be true of a queue, computed from all of its jobs. */
interface ModelJob {
  readonly id: number;
  readonly priority: number;
  readonly after: readonly Dependency[];
  state: "waiting" | "given" | "succeeded" | "failed" | "stopped" | "skipped";
}

type Model = Map<number, ModelJob>;

const OUTCOMES = {
  succeeded: { kind: "exited", code: 0 },
  failed: { kind: "exited", code: 1 },
  stopped: { kind: "stopped" },
} satisfies Record<string, Outcome>;

type End = keyof typeof OUTCOMES;

/** "met", "open", or "never" for one dependency, in the words of the documentation. */
function judge(model: Model, { job, when }: Dependency): "met" | "open" | "never" {
  const state = model.get(job)?.state;
  if (state === undefined) return "met";
  if (state === "waiting" || state === "given") return "open";
  if (when === "ended") return "met";
  return state === when ? "met" : "never";
}

const judged = (model: Model, { after }: ModelJob) => after.map((each) => judge(model, each));
const mayRun = (model: Model, job: ModelJob) => !judged(model, job).includes("never");

/** Waiting jobs behind one that ended are skipped, until none is left to be skipped. */
function skipAll(model: Model): void {
  for (let isChanged = true; isChanged; ) {
    isChanged = false;
    for (const job of model.values())
      if (job.state === "waiting" && !mayRun(model, job)) {
        job.state = "skipped";
        isChanged = true;
      }
  }
}

/** Jobs that were skipped because of it wait again, and so on. */
function reopen(model: Model, job: ModelJob): void {
  job.state = "waiting";
  for (const other of model.values())
    if (other.state === "skipped" && other.after.some((each) => each.job === job.id) && mayRun(model, other))
      reopen(model, other);
}

function nextOf(model: Model): number | undefined {
  const ready = [...model.values()].filter(
    (job) => job.state === "waiting" && judged(model, job).every((verdict) => verdict === "met"),
  );
  return ready.sort((a, b) => b.priority - a.priority || a.id - b.id)[0]?.id;
}

const step = fc.record({
  verb: fc.constantFrom("add", "add", "give", "give", "end", "end", "stop", "return", "retry", "remove"),
  pick: fc.nat(30),
  others: fc.array(
    fc.record({
      back: fc.integer({ min: 1, max: 6 }),
      when: fc.constantFrom("succeeded", "ended", "failed"),
    }),
    { maxLength: 3 },
  ),
  priority: fc.integer({ min: -1, max: 1 }),
  end: fc.constantFrom("succeeded", "failed", "stopped"),
});

test("after any adds, ends, stops, retries and removals, the same job as in the model may be given next", async () => {
  const record = await aRecord();
  fc.assert(
    fc.property(fc.array(step, { maxLength: 50, size: "max" }), (steps) => {
      record.transactions.writeNow(() => {
        record.queues.remove("default");
        record.queues.add(aQueue(), null, 1);
      });
      const model: Model = new Map();
      for (const each of steps) {
        act(record, model, each as Step);
        expect(record.heads.of("default").map(({ id }) => id)).toEqual(
          [nextOf(model)].filter((id) => id !== undefined),
        );
        for (const { id, state } of model.values()) {
          const known = record.jobs.findWithInside("default", id);
          const isGiven = known?.job.state === "waiting" && known.inside.given !== null;
          expect([id, isGiven ? "given" : known?.job.state]).toEqual([id, state]);
        }
      }
    }),
    { numRuns: 100 },
  );
});

interface Step {
  readonly verb: "add" | "give" | "end" | "stop" | "return" | "retry" | "remove";
  readonly pick: number;
  readonly others: readonly { readonly back: number; readonly when: Dependency["when"] }[];
  readonly priority: number;
  readonly end: End;
}

function act(record: ServiceDatabase, model: Model, { verb, pick, others, priority, end }: Step): void {
  const { jobs, transactions } = record;
  const those = (...states: readonly ModelJob["state"][]) =>
    [...model.values()].filter(({ state }) => states.includes(state));
  const one = (of: readonly ModelJob[]) => of[pick % Math.max(1, of.length)];
  const finish = (job: ModelJob, state: End) => {
    transactions.writeNow(() => {
      const known = jobs.find("default", job.id);
      const more = { durationMs: null, footprint: null, stderrTail: null, reason: null };
      if (known !== null)
        endJob(record, () => {}, known, { state, at: 1, outcome: OUTCOMES[state], ...more });
    });
    job.state = state;
    skipAll(model);
  };
  if (verb === "add") {
    const ids = [...model.keys()];
    const after = others.flatMap(({ back, when }): Dependency[] => {
      const job = ids.at(-back);
      return job === undefined ? [] : [{ job, when }];
    });
    const unique = after.filter((each, n) => after.findIndex(({ job }) => job === each.job) === n);
    // A job that could never begin is refused before it is added.
    const possible = unique.filter((each) => judge(model, each) !== "never");
    const met = possible.filter(({ job, when }) => {
      const other = jobs.find("default", job);
      return other !== null && verdictOf(when, turnoutOfState(other)) === "met";
    });
    const [id = 0] = addJobs(record, [{ priority, after: possible, met }]);
    model.set(id, { id, priority, after: possible, state: "waiting" });
  } else if (verb === "give") {
    const [head] = record.heads.of("default");
    if (head === undefined) return;
    transactions.writeNow(() => jobs.give("default", [head.id], 1));
    Object.assign(model.get(head.id) ?? {}, { state: "given" });
  } else if (verb === "end") {
    const job = one(those("given"));
    if (job !== undefined) finish(job, end);
  } else if (verb === "stop") {
    const job = one(those("waiting"));
    if (job !== undefined) finish(job, "stopped");
  } else if (verb === "return") {
    const job = one(those("given"));
    if (job === undefined) return;
    transactions.writeNow(() => takeBack(record, () => {}, "default", [job.id]));
    job.state = "waiting";
    skipAll(model);
  } else if (verb === "retry") {
    const job = one(those("succeeded", "failed", "stopped", "skipped"));
    const known = job && jobs.find("default", job.id);
    if (job === undefined || known === undefined || known === null) return;
    expect(whyNever(record, known) === null).toBe(mayRun(model, job));
    if (!mayRun(model, job)) return;
    transactions.writeNow(() => reopenJob(record, () => {}, "default", job.id));
    reopen(model, job);
  } else {
    const job = one(those("succeeded", "failed", "stopped", "skipped"));
    if (job === undefined) return;
    transactions.writeNow(() => jobs.remove("default", [job.id]));
    model.delete(job.id);
  }
}

const MORE = { at: 1, durationMs: null, footprint: null, stderrTail: null, reason: null };

test("a retried job waits for a job that it comes after and that waits again", async () => {
  const record = await aRecord();
  addJobs(record, [{}, { after: [{ job: 1, when: "succeeded" }] }]);
  for (const id of [1, 2])
    record.transactions.writeNow(() => {
      const job = record.jobs.find("default", id);
      if (job !== null)
        endJob(record, () => {}, job, { state: "succeeded", outcome: OUTCOMES.succeeded, ...MORE });
    });
  for (const id of [2, 1]) record.transactions.writeNow(() => reopenJob(record, () => {}, "default", id));
  record.transactions.writeNow(() => record.jobs.give("default", [1], 1));
  expect(record.heads.of("default")).toEqual([]);
});

test("a job that a machine has is not skipped when the job it comes after is retried and then stopped", async () => {
  const record = await aRecord();
  const { jobs, transactions } = record;
  const end = (id: number, state: End) =>
    transactions.writeNow(() => {
      const job = jobs.find("default", id);
      if (job !== null) endJob(record, () => {}, job, { state, outcome: OUTCOMES[state], ...MORE });
    });
  addJobs(record, [{}, { after: [{ job: 1, when: "succeeded" }] }]);
  end(1, "succeeded");
  transactions.writeNow(() => jobs.give("default", [2], 1));
  transactions.writeNow(() => reopenJob(record, () => {}, "default", 1));
  end(1, "stopped");
  expect(jobs.find("default", 2)?.state).toBe("waiting");
  transactions.writeNow(() => takeBack(record, () => {}, "default", [2]));
  expect(jobs.find("default", 2)?.state).toBe("skipped");
});
