import { describe, expect, test } from "vitest";
import type { Dependency } from "../../../src/model/job.js";
import { apply } from "../../../src/plan/fold/apply.js";
import { setJob } from "../../../src/plan/fold/edit-events.js";
import {
  aRun,
  collected,
  ended,
  FAILURE,
  failed,
  given,
  interrupted,
  LOST,
  type RunFacts,
  runStarted,
  SUCCESS,
  started,
} from "./a-run.js";

const STOPPED = { kind: "stopped" } as const;

type Graph = Readonly<Record<number, readonly Dependency[]>>;

function aGraph(jobs: number, graph: Graph, more: Partial<RunFacts> = {}) {
  const run = aRun({ jobs, machines: { a: 2, b: 2 }, ...more });
  for (const [id, dependsOn] of Object.entries(graph)) {
    const tracked = run.state.jobs.get(Number(id));
    if (tracked !== undefined) setJob(run.state, tracked, { ...tracked.job, dependsOn });
  }
  return run;
}

const afterOk = (job: number): Dependency => ({ job, when: "succeeded" });
const afterAny = (job: number): Dependency => ({ job, when: "ended" });
const afterFail = (job: number): Dependency => ({ job, when: "failed" });

/** Ran on a, and its results are here. */
const done = (job: number, outcome: Parameters<typeof ended>[2] = SUCCESS, attempt = 1) => [
  ...given("a", job),
  started("a", job, attempt),
  ended("a", job, outcome, attempt),
  collected("a", job, outcome, attempt),
];

function dealt(run: ReturnType<typeof aRun>): number[] {
  return run.news("jobs-assigned").flatMap((news) => (news.kind === "jobs-assigned" ? news.jobs : []));
}

test("only jobs whose dependencies are met are dealt", () => {
  const run = aGraph(4, { 2: [afterOk(1)], 3: [afterOk(1)], 4: [afterOk(2), afterOk(3)] });
  expect(dealt(run)).toEqual([1]);
  run.tell(...given("a", 1), started("a", 1), ended("a", 1));
  expect(dealt(run), "its results are not here yet").toEqual([]);
  run.tell(collected("a", 1));
  expect(dealt(run).sort()).toEqual([2, 3]);
  run.tell(...done(2));
  expect(dealt(run)).toEqual([3]);
  run.tell(...done(3));
  expect(dealt(run)).toEqual([4]);
  expect(run.isOver()).toBe(false);
});

describe("what becomes of a job after another one", () => {
  const cases = [
    ["succeeded", SUCCESS, "waiting", "waiting", "unneeded"],
    ["failed", FAILURE, "blocked", "waiting", "waiting"],
    ["was lost", LOST, "blocked", "waiting", "waiting"],
    ["was stopped", STOPPED, "blocked", "waiting", "blocked"],
  ] as const;
  test.each(cases)("that %s", (_, outcome, succeeded, any, fail) => {
    const graph = { 2: [afterOk(1)], 3: [afterAny(1)], 4: [afterFail(1)] };
    const run = aGraph(4, graph, { policy: { retries: 0 } });
    run.tell(...done(1, outcome));
    expect([2, 3, 4].map((id) => run.job(id)?.kind)).toEqual([succeeded, any, fail]);
    expect([...run.state.held]).toEqual([]);
  });

  test("that is skipped itself: it did not fail, but has ended", () => {
    const graph = { 2: [afterOk(1)], 3: [afterOk(2)], 4: [afterAny(2)], 5: [afterFail(2)] };
    const run = aGraph(5, graph);
    run.tell(...done(1, FAILURE));
    expect([2, 3, 4, 5].map((id) => run.job(id)?.kind)).toEqual(["blocked", "blocked", "waiting", "blocked"]);
  });

  test("whose machine was left out: it may still run there", () => {
    const run = aGraph(3, { 2: [afterOk(1)], 3: [afterAny(1)] });
    run.tell(...given("a", 1), started("a", 1), failed("a"));
    expect([2, 3].map((id) => run.job(id)?.kind)).toEqual(["blocked", "blocked"]);
  });

  test("that had results before this run", () => {
    const run = aGraph(4, { 3: [afterOk(1)], 4: [afterOk(2)] });
    run.tell(
      { kind: "job-skipped", job: 1, outcome: null },
      { kind: "job-skipped", job: 2, outcome: FAILURE },
    );
    expect(dealt(run)).toEqual([3]);
    expect(run.job(4)).toEqual({ kind: "blocked" });
  });

  test("that is not known, as on a second computer", () => {
    expect(dealt(aGraph(1, { 1: [afterOk(99)] }))).toEqual([1]);
  });
});

test("a job that is retried has not ended: what comes after it waits for the last attempt", () => {
  const run = aGraph(2, { 2: [afterAny(1)] }, { policy: { retries: 1, retriesFailures: true } });
  run.tell(...done(1, FAILURE));
  expect(run.state.held).toContain(2);
  run.tell({ kind: "jobs-retried", machine: "a", jobs: [1] });
  expect(dealt(run)).toEqual([1]);
  run.tell(...done(1, FAILURE, 2));
  expect(dealt(run)).toEqual([2]);
});

test("a skipped job is told once, and waits again when the other job runs again", () => {
  const run = aGraph(2, { 2: [afterOk(1)] });
  run.tell(...done(1, FAILURE));
  const [news] = run.news("job-blocked");
  expect(news).toEqual({ kind: "job-blocked", job: 2, by: 1, when: "succeeded", turnout: "failed" });
  if (news !== undefined) run.tell(news);
  expect(run.news("job-blocked")).toEqual([]);
  run.tell({ kind: "job-reopened", job: 1 });
  expect([run.job(2)?.kind, [...run.state.held]]).toEqual(["waiting", [2]]);
  run.tell(...done(1, SUCCESS, 2));
  expect(dealt(run)).toEqual([2]);
});

test("a chain of very many jobs is skipped at once", () => {
  const jobs = 20_000;
  const graph = Object.fromEntries(Array.from({ length: jobs - 1 }, (_, n) => [n + 2, [afterOk(n + 1)]]));
  const run = aGraph(jobs, graph);
  run.tell(...done(1, FAILURE));
  expect(run.state.tally.blocked).toBe(jobs - 1);
});

test("a drain keeps the order: jobs wait again when it ends", () => {
  const run = aGraph(3, { 2: [afterOk(1)], 3: [afterOk(2)] });
  run.tell(...given("a", 1), started("a", 1), interrupted("drain"));
  expect([2, 3].map((id) => run.job(id)?.kind)).toEqual(["dropped", "dropped"]);
  run.tell(ended("a", 1), collected("a", 1), { kind: "continued", from: "drain" });
  expect([[...run.state.waiting], [...run.state.held]]).toEqual([[2], [3]]);
});

test("a stop also stops jobs that wait for others", () => {
  const run = aGraph(2, { 2: [afterAny(1)] });
  run.tell(...given("a", 1), started("a", 1), interrupted("stop"));
  run.tell(ended("a", 1, STOPPED), collected("a", 1, STOPPED));
  expect(run.job(2)).toEqual({ kind: "stopped" });
});

test("an edit changes what a waiting job comes after", () => {
  const run = aGraph(3, { 2: [afterOk(1)] });
  run.tell(...given("a", 1, 3), started("a", 1));
  const tracked = run.state.jobs.get(2);
  if (tracked === undefined) throw new Error("no job");
  setJob(run.state, tracked, { ...tracked.job, dependsOn: [] });
  expect(dealt(run)).toEqual([2]);
  setJob(run.state, tracked, { ...tracked.job, dependsOn: [afterOk(3)] });
  expect(dealt(run)).toEqual([]);
});

test("jobs that arrive may come after known ones", () => {
  const run = aRun({ jobs: 1, machines: { a: 1 } });
  const job = { id: 2, line: 2, name: "j.2", command: "x", dependsOn: [afterOk(1)] };
  apply(run.state, { ...runStarted(), at: 0 } as Parameters<typeof apply>[1]);
  run.tell({ kind: "jobs-added", jobs: [job], position: null });
  expect(dealt(run)).toEqual([1]);
});
