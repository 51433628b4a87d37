import { describe, expect, test } from "vitest";
import type { Decision } from "../../../src/model/decision.js";
import type { News, RunEvent } from "../../../src/model/event.js";
import { replay } from "../../../src/plan/fold/replay.js";
import { keyOn } from "../../../src/plan/run-state.js";
import {
  aNewRun,
  aRun,
  assigned,
  back,
  collected,
  ended,
  FAILURE,
  failed,
  freeing,
  given,
  handedOver,
  interrupted,
  LOST,
  lost,
  ready,
  started,
  takenBack,
} from "./a-run.js";

/** Everything that is decided about a machine. */
const linesFor = (decided: readonly (Decision | News)[], machine: string): readonly number[] =>
  decided.flatMap((each) =>
    "machine" in each && each.machine === machine && "jobs" in each ? (each.jobs as readonly number[]) : [],
  );

describe("dealing", () => {
  test("all jobs are dealt at once, by slots, early lines early on every machine", () => {
    const dealt = aRun({ jobs: 9, machines: { a: 2, b: 1 } }).news("jobs-assigned");
    expect(linesFor(dealt, "a")).toHaveLength(6);
    expect(linesFor(dealt, "b")).toHaveLength(3);
    for (const machine of ["a", "b"]) {
      const lines = linesFor(dealt, machine);
      expect(lines).toEqual(lines.toSorted((x, y) => x - y));
      expect(lines[0]).toBeLessThanOrEqual(2);
    }
    // The first round has one job for every slot.
    expect([...linesFor(dealt, "a").slice(0, 2), ...linesFor(dealt, "b").slice(0, 1)].toSorted()).toEqual([
      1, 2, 3,
    ]);
  });

  test("with fewer jobs than slots, no machine gets two while another has none", () => {
    const dealt = aRun({ jobs: 3, machines: { a: 8, b: 8, c: 8 } }).news("jobs-assigned");
    expect(["a", "b", "c"].map((machine) => linesFor(dealt, machine).length)).toEqual([1, 1, 1]);
  });

  test("a machine without slots gets none", () => {
    expect(linesFor(aRun({ jobs: 4, machines: { a: 0, b: 1 } }).news("jobs-assigned"), "a")).toEqual([]);
  });

  test("a machine that answers a little later also gets a share; a slow one does not delay the others", () => {
    const run = aNewRun({ jobs: 4, machines: { a: 1, b: 1 } });
    const connects = run.begin();
    expect(connects.map(({ kind, machine }) => `${kind} ${machine}`)).toEqual(["connect a", "connect b"]);
    run.tell(ready("a", 1));
    expect(run.news("jobs-assigned")).toEqual([]);
    run.at += 60_000;
    expect(linesFor(run.news("jobs-assigned"), "a")).toEqual([1, 2, 3, 4]);
  });

  test("while other machines are awaited, slots are not idle: each gets one job, and the rest is dealt later", () => {
    const run = aNewRun({ jobs: 9, machines: { a: 2, b: 1, c: 1 } });
    run.begin();
    run.tell(ready("a", 2), ready("b", 1));
    run.at += 500;
    const helping = run.news("jobs-assigned");
    expect(["a", "b", "c"].map((machine) => linesFor(helping, machine).length)).toEqual([2, 1, 0]);
    run.tell(...given("a", ...linesFor(helping, "a")), ...given("b", ...linesFor(helping, "b")));
    expect(run.news("jobs-assigned")).toEqual([]);
    run.tell(ready("c", 1));
    const rest = run.news("jobs-assigned");
    expect(linesFor(rest, "c")).toHaveLength(2);
    expect(["a", "b", "c"].flatMap((machine) => linesFor(rest, machine))).toHaveLength(6);
  });

  test("a machine that failed is not awaited", () => {
    const run = aNewRun({ jobs: 2, machines: { a: 1, b: 1 } });
    run.begin();
    run.tell(ready("a", 1), failed("b"));
    expect(linesFor(run.news("jobs-assigned"), "a")).toEqual([1, 2]);
  });

  test("jobs with another tree are handed over after those with the first tree", () => {
    const run = aRun({ jobs: 5, machines: { a: 1 } });
    for (const id of [2, 4]) {
      const tracked = run.state.jobs.get(id);
      if (tracked !== undefined) tracked.job = { ...tracked.job, copyForward: ["data"] };
    }
    run.tell(assigned("a", 1, 2, 3, 4, 5));
    const [first] = run.begin();
    expect(first).toEqual({ kind: "hand-over", machine: "a", jobs: [1, 3, 5] });
    expect(run.decisions("hand-over")).toEqual([]);
    run.tell(handedOver("a", 1, 3, 5));
    run.settle(first as Decision);
    expect(run.decisions("hand-over")).toEqual([{ kind: "hand-over", machine: "a", jobs: [2, 4] }]);
  });

  test("no job is dealt twice, and each assignment has the number of its attempt", () => {
    const run = aRun({ jobs: 2, machines: { a: 1 } });
    const dealt = run.news("jobs-assigned");
    expect(dealt).toEqual([{ kind: "jobs-assigned", machine: "a", jobs: [1, 2], attempts: [1, 1] }]);
    run.tell(...dealt);
    expect(run.news("jobs-assigned")).toEqual([]);
    expect(run.decisions("hand-over")).toEqual([{ kind: "hand-over", machine: "a", jobs: [1, 2] }]);
    run.tell(handedOver("a", 1, 2), takenBack("a", [2]));
    expect(run.news("jobs-assigned")).toMatchObject([{ jobs: [2], attempts: [2] }]);
  });

  test("not to a machine to which jobs are being handed over", () => {
    const run = aRun({ jobs: 2, machines: { a: 1 } });
    run.tell(assigned("a", 1), takenBack("a", [2]));
    const [handOver] = run.begin();
    expect(run.news("jobs-assigned")).toEqual([]);
    run.settle(handOver as Decision);
    expect(run.news("jobs-assigned")).toMatchObject([{ machine: "a", jobs: [2] }]);
  });

  test("jobs that are handed over again are marked as possibly arrived", () => {
    const run = aRun({ jobs: 2, machines: { a: 1 } });
    run.tell(assigned("a", 1));
    const begun = run.begin();
    run.tell(lost("a"), assigned("a", 2), back("a"));
    for (const decision of begun) run.settle(decision);
    expect(run.decisions("hand-over")).toEqual([
      { kind: "hand-over", machine: "a", jobs: [1, 2], again: [1] },
    ]);
  });

  test("with nothing to run, no machine is connected", () => {
    const run = aNewRun({ jobs: 1, machines: { a: 1 } });
    run.tell({ kind: "job-skipped", job: 1, outcome: null });
    expect(run.decisions()).toEqual([]);
    expect(run.isOver()).toBe(true);
  });
});

describe("one verb of each kind at a time", () => {
  test("a verb in progress is not begun again", () => {
    const run = aRun({ jobs: 2, machines: { a: 2 } });
    run.tell(...given("a", 1, 2), ended("a", 1));
    const [collect] = run.begin();
    expect(collect).toEqual({ kind: "collect", machine: "a", jobs: [1] });
    run.tell(ended("a", 2));
    expect(run.decisions("collect")).toEqual([]);
    run.tell(collected("a", 1));
    run.settle(collect as Decision);
    expect(run.decisions("collect")).toEqual([{ kind: "collect", machine: "a", jobs: [2] }]);
  });

  test("results of short jobs are collected together; the last ones, and those after a while, at once", () => {
    const run = aRun({ jobs: 400, machines: { a: 2 } });
    const lines = Array.from({ length: 400 }, (_, n) => n + 1);
    run.tell(...given("a", ...lines), ended("a", 1));
    const [collect] = run.begin();
    run.tell(collected("a", 1), ended("a", 2));
    run.settle(collect as Decision);
    expect(run.decisions("collect")).toEqual([]);
    run.at = 300;
    expect(run.decisions("collect")).toEqual([{ kind: "collect", machine: "a", jobs: [2] }]);
    run.at = 0;
    run.tell(...lines.slice(1, 201).map((line) => ended("a", line)));
    expect(run.decisions("collect")).toHaveLength(1);
    run.tell(
      ...lines.slice(1, 399).flatMap((line) => [ended("a", line), collected("a", line)]),
      ended("a", 400),
    );
    expect(run.decisions("collect")).toEqual([{ kind: "collect", machine: "a", jobs: [400] }]);
  });

  test("a verb that ended without news is decided again", () => {
    const run = aRun({ jobs: 1, machines: { a: 1 } });
    run.tell(...given("a", 1), ended("a", 1));
    const [collect] = run.begin();
    run.settle(collect as Decision);
    expect(run.decisions("collect")).toEqual([collect]);
  });

  test("many results are collected in parts", () => {
    const jobs = 1200;
    const run = aRun({ jobs, machines: { a: 1 } });
    const lines = Array.from({ length: jobs }, (_, n) => n + 1);
    run.tell(...given("a", ...lines), ...lines.map((line) => ended("a", line)));
    const [collect] = run.decisions("collect");
    expect(linesFor([collect as Decision], "a").length).toBeLessThan(jobs);
  });
});

describe("freeing", () => {
  test("only collected attempts, by their keys", () => {
    const run = aRun({ jobs: 2, machines: { a: 1 } });
    run.tell(...given("a", 1, 2), takenBack("a", [1]), ...given("a", 1));
    run.tell(ended("a", 1, undefined, 2), ended("a", 2));
    expect(run.decisions("free")).toEqual([]);
    run.tell(collected("a", 1, undefined, 2));
    expect(run.decisions("free")).toEqual([freeing("a", "5000000000001-1-2")]);
  });

  test("the last results are removed with the spool", () => {
    const run = aRun({ jobs: 1, machines: { a: 1 } });
    run.tell(...given("a", 1), ended("a", 1));
    const [collect] = run.begin();
    run.tell(collected("a", 1));
    expect(run.decisions()).toEqual([]);
    run.settle(collect as Decision);
    expect(run.decisions()).toEqual([{ kind: "finish", machine: "a", cleans: true }]);
  });

  test("a machine without jobs waits a moment, because all machines may be about to end", () => {
    const run = aRun({ jobs: 2, machines: { a: 1, b: 1 } });
    run.tell(...given("a", 1), ...given("b", 2), started("b", 2), ended("a", 1));
    const [collect] = run.begin();
    run.tell(collected("a", 1));
    run.settle(collect as Decision);
    expect(run.decisions()).toEqual([]);
    run.at += 300;
    expect(run.decisions()).toEqual([freeing("a", "5000000000001-1-1")]);
  });

  test("such a machine costs no decision meanwhile, and ends with the others", () => {
    const run = aRun({ jobs: 2, machines: { a: 1, b: 1 } });
    run.tell(...given("a", 1), ...given("b", 2), started("b", 2), ended("a", 1));
    const [collect] = run.begin();
    run.tell(collected("a", 1));
    run.settle(collect as Decision);
    expect(run.decisions()).toEqual([]);
    expect([...run.state.stock.due]).toEqual([]);
    run.tell(ended("b", 2), collected("b", 2));
    expect(run.decisions().map(({ kind, machine }) => `${kind} ${machine}`)).toEqual([
      "finish a",
      "finish b",
    ]);
  });

  test("if some results must stay, the others are freed first", () => {
    const run = aRun({ jobs: 2, machines: { a: 1 } });
    run.tell(...given("a", 1, 2), ended("a", 1), ended("a", 2), collected("a", 1));
    run.tell({ kind: "job-stuck", job: 2, attempt: 1, machine: "a", reason: "a device" });
    const decisions = run.begin();
    expect(decisions).toEqual([freeing("a", "5000000000001-1-1")]);
    run.settle(decisions[0] as Decision);
    expect(run.decisions()).toEqual([{ kind: "finish", machine: "a", cleans: false }]);
  });
});

describe("interrupts", () => {
  test("jobs that have not begun are taken back, running ones continue", () => {
    const run = aRun({ jobs: 3, machines: { a: 1 } });
    run.tell(...given("a", 1, 2, 3), started("a", 1), interrupted("drain"));
    expect(run.decisions()).toEqual([{ kind: "take-back", machine: "a", jobs: [2, 3] }]);
  });

  test("the second time running jobs are stopped, once", () => {
    const run = aRun({ jobs: 2, machines: { a: 1 } });
    run.tell(...given("a", 1, 2), started("a", 1), interrupted("stop"));
    const begun = run.begin();
    expect(begun.find(({ kind }) => kind === "stop")).toEqual({ kind: "stop", machine: "a", jobs: [1] });
    for (const decision of begun) run.settle(decision);
    expect(run.decisions("stop")).toEqual([]);
  });

  test("nothing more is assigned, and the run ends when the running jobs are collected", () => {
    const run = aRun({ jobs: 3, machines: { a: 1 } });
    run.tell(...given("a", 1), started("a", 1), interrupted("drain"));
    expect(run.news("jobs-assigned")).toEqual([]);
    expect(run.decisions("finish")).toEqual([]);
    run.tell(ended("a", 1), collected("a", 1));
    expect(run.decisions()).toEqual([{ kind: "finish", machine: "a", cleans: true }]);
  });
});

describe("finishing", () => {
  test("only when the machine has nothing left, and no job could come from another", () => {
    const run = aRun({ jobs: 2, machines: { a: 1, b: 1 } });
    run.tell(...given("a", 1), ...given("b", 2), started("b", 2), ended("a", 1), collected("a", 1));
    const [free] = run.begin();
    run.settle(free as Decision);
    expect(run.decisions("finish")).toEqual([]);
    run.tell(ended("b", 2), collected("b", 2));
    expect(run.begin().map(({ kind, machine }) => `${kind} ${machine}`)).toEqual(["finish a", "finish b"]);
  });

  test("a machine that never had a job is not cleaned", () => {
    const run = aRun({ jobs: 1, machines: { a: 1, b: 1 } });
    run.tell(...given("a", 1), ended("a", 1), collected("a", 1));
    expect(run.decisions("finish")).toEqual([
      { kind: "finish", machine: "a", cleans: true },
      { kind: "finish", machine: "b", cleans: false },
    ]);
  });

  test("results that could not be collected are not cleaned away", () => {
    const run = aRun({ jobs: 1, machines: { a: 1 } });
    run.tell(...given("a", 1), ended("a", 1));
    run.tell({ kind: "job-stuck", job: 1, attempt: 1, machine: "a", reason: "a device" });
    expect(run.decisions()).toEqual([{ kind: "finish", machine: "a", cleans: false }]);
  });

  test("results with missing paths are neither freed nor cleaned away", () => {
    const run = aRun({ jobs: 2, machines: { a: 1 } });
    run.tell(...given("a", 1, 2), ended("a", 1), ended("a", 2), collected("a", 2));
    run.tell({ ...collected("a", 1), missing: ["closed/"] } as News);
    const [free] = run.begin();
    expect(free).toEqual(freeing("a", "5000000000002-2-1"));
    run.settle(free as Decision);
    expect(run.decisions()).toEqual([{ kind: "finish", machine: "a", cleans: false }]);
  });

  test("the next client requests the missing paths, and frees the results when they have arrived", () => {
    const past = [...given("a", 1), ended("a", 1), { ...collected("a", 1), missing: ["x"] }];
    const run = aNewRun({ jobs: 1, machines: { a: 1 } });
    replay(
      run.state,
      [...past, { kind: "machine-done", machine: "a" }].map((news) => ({ ...news, at: 0 }) as RunEvent),
    );
    expect(run.decisions()).toEqual([{ kind: "connect", machine: "a", resumes: true }]);
    const [connect] = run.begin();
    run.tell(ready("a", 1));
    run.settle(connect as Decision);
    const [collect] = run.begin();
    const about = { job: 1, attempt: 1, machine: "a" };
    expect(collect).toEqual({
      kind: "collect-rest",
      machine: "a",
      rests: [{ ...about, key: "5000000000001-1-1", missing: ["x"], isInPlace: true }],
    });
    run.tell({ kind: "rest-collected", ...about, files: 1, bytes: 1, missing: [] });
    run.settle(collect as Decision);
    expect(run.decisions()).toEqual([{ kind: "finish", machine: "a", cleans: true }]);
  });

  test("the next client requests uncollected results again, even if the machine was done", () => {
    const run = aNewRun({ jobs: 1, machines: { a: 1 } });
    const past: News[] = [
      ...given("a", 1),
      ended("a", 1),
      { kind: "job-stuck", job: 1, attempt: 1, machine: "a", reason: "tar failed" },
      { kind: "machine-done", machine: "a" },
    ];
    replay(
      run.state,
      past.map((news) => ({ ...news, at: 0 }) as RunEvent),
    );
    expect(run.decisions()).toEqual([{ kind: "connect", machine: "a", resumes: true }]);
  });

  test("the run is over when every machine is done or has failed, and not while a verb is in progress", () => {
    const run = aRun({ jobs: 1, machines: { a: 1, b: 1 } });
    run.tell(...given("a", 1), ended("a", 1), collected("a", 1), failed("b"));
    const [finish] = run.begin();
    expect(run.isOver()).toBe(false);
    run.tell({ kind: "machine-done", machine: "a" });
    expect(run.isOver()).toBe(false);
    run.settle(finish as Decision);
    expect(run.isOver()).toBe(true);
    expect(run.decisions()).toEqual([]);
  });
});

describe("a lost connection", () => {
  test("only reconnecting is tried, once at a time, and verbs in progress are decided again", () => {
    const run = aRun({ jobs: 2, machines: { a: 1 } });
    run.tell(...given("a", 1, 2), ended("a", 1));
    const [collect] = run.begin();
    run.tell(lost("a"));
    run.settle(collect as Decision);
    const [reconnect, ...more] = run.begin();
    expect([reconnect?.kind, more]).toEqual(["reconnect", []]);
    expect(run.decisions()).toEqual([]);
    expect(run.isOver()).toBe(false);
    run.tell(back("a"));
    run.settle(reconnect as Decision);
    run.at = 1000;
    expect(run.decisions()).toEqual([{ kind: "collect", machine: "a", jobs: [1] }]);
  });

  test("after too long, other machines get its waiting jobs; its begun jobs stay with it", () => {
    const run = aRun({ jobs: 3, machines: { a: 1, b: 1 }, policy: { reassignAfterMs: 1000 } });
    run.tell(...given("a", 1, 2), started("a", 1), ...given("b", 3), lost("a"));
    run.begin();
    run.at = 999;
    expect(run.news("jobs-reassigned")).toEqual([]);
    run.at = 1000;
    expect(run.news("jobs-reassigned")).toEqual([{ kind: "jobs-reassigned", machine: "a", jobs: [2] }]);
    run.tell({ kind: "jobs-reassigned", machine: "a", jobs: [2] });
    expect(run.news("jobs-assigned")).toMatchObject([{ machine: "b", jobs: [2] }]);
    expect(run.job(1)).toMatchObject({ kind: "running", machine: "a" });
  });

  test("never, if that is configured, and not if no other machine could take the jobs", () => {
    const patient = aRun({ jobs: 1, machines: { a: 1, b: 1 }, policy: { reassignAfterMs: null } });
    patient.tell(...given("a", 1), lost("a"));
    patient.at = 1e12;
    expect(patient.news("jobs-reassigned")).toEqual([]);
    const alone = aRun({ jobs: 1, machines: { a: 1 }, policy: { reassignAfterMs: 1000 } });
    alone.tell(...given("a", 1), lost("a"));
    alone.at = 1e12;
    expect(alone.news("jobs-reassigned")).toEqual([]);
  });

  test("when it comes back, it is asked for jobs that others have, which it may have begun", () => {
    const run = aRun({ jobs: 1, machines: { a: 1, b: 1 }, policy: { reassignAfterMs: 1000 } });
    run.tell(
      ...given("a", 1),
      lost("a"),
      { kind: "jobs-reassigned", machine: "a", jobs: [1] },
      ...given("b", 1),
    );
    run.tell(back("a"));
    expect(run.decisions("take-back")).toEqual([{ kind: "take-back", machine: "a", jobs: [1] }]);
    // It had begun it: the first collected result counts, and the other gets another name.
    run.tell(takenBack("a", [], [1]), ended("a", 1), started("b", 1, 2));
    expect(linesFor(run.decisions("collect"), "a")).toEqual([1]);
    run.tell(collected("a", 1));
    expect(run.job(1)).toMatchObject({ kind: "collected" });
    run.tell(ended("b", 1, FAILURE, 2));
    expect(linesFor(run.decisions("collect"), "b")).toEqual([1]);
    run.tell(collected("b", 1, FAILURE, 2));
    expect(run.job(1)).toMatchObject({ kind: "collected", outcome: { kind: "exited", code: 0 } });
  });
});

describe("retries", () => {
  test("a lost job is retried, on another machine if possible, a limited number of times", () => {
    const run = aRun({ jobs: 1, machines: { a: 1, b: 1 }, policy: { retries: 1 } });
    run.tell(...given("a", 1), ended("a", 1, LOST), collected("a", 1, LOST));
    expect(run.decisions("retry")).toEqual([{ kind: "retry", machine: "a", jobs: [1] }]);
    run.tell({ kind: "jobs-retried", machine: "a", jobs: [1] });
    expect(run.news("jobs-assigned")).toMatchObject([{ machine: "b", jobs: [1] }]);
    run.tell(...given("b", 1), ended("b", 1, LOST, 2), collected("b", 1, LOST, 2));
    expect(run.decisions("retry")).toEqual([]);
  });

  test("a failed job only if configured; a stopped one never", () => {
    for (const retriesFailures of [false, true]) {
      const run = aRun({ jobs: 2, machines: { a: 1 }, policy: { retriesFailures } });
      run.tell(...given("a", 1, 2), ended("a", 1, FAILURE), ended("a", 2, { kind: "stopped" }));
      run.tell(collected("a", 1, FAILURE), collected("a", 2, { kind: "stopped" }));
      expect(linesFor(run.decisions("retry"), "a")).toEqual(retriesFailures ? [1] : []);
    }
  });

  test("a single machine gets its own failures again", () => {
    const run = aRun({ jobs: 1, machines: { a: 1 } });
    run.tell(...given("a", 1), ended("a", 1, LOST), collected("a", 1, LOST));
    run.tell({ kind: "jobs-retried", machine: "a", jobs: [1] });
    expect(run.news("jobs-assigned")).toMatchObject([{ machine: "a", jobs: [1] }]);
  });
});

test("a job with stuck results is not assigned again while its machine is asked to give it back", () => {
  const run = aRun({ jobs: 1, machines: { a: 1 } });
  run.tell(...given("a", 1), { kind: "job-replaced", job: 1 });
  const [takeBack] = run.begin();
  expect(takeBack).toEqual({ kind: "take-back", machine: "a", jobs: [1] });
  const stuck = { kind: "job-stuck", job: 1, attempt: 1, machine: "a", reason: "a device" } as const;
  run.tell(ended("a", 1), stuck);
  // The answer concerns the first attempt.
  expect(run.news("jobs-assigned")).toEqual([]);
  run.tell(takenBack("a", [], [1]));
  run.settle(takeBack as Decision);
  expect(run.news("jobs-assigned")).toMatchObject([{ machine: "a", jobs: [1], attempts: [2] }]);
});

describe("balancing", () => {
  test("a machine without work gets jobs that another has not begun, the last ones first", () => {
    const run = aRun({ jobs: 6, machines: { a: 1, b: 1 } });
    run.tell(...given("a", 1, 2, 3, 4, 5), ...given("b", 6), started("a", 1), ended("b", 6));
    run.decisions();
    run.at += 1000;
    const lines = linesFor(run.decisions("take-back"), "a");
    expect(lines).toContain(5);
    expect(lines).not.toContain(2);
    expect(linesFor(run.decisions("take-back"), "b")).toEqual([]);
  });

  test("not at once: the first machine may finish the jobs sooner than they could be moved", () => {
    const run = aRun({ jobs: 6, machines: { a: 1, b: 1 } });
    run.tell(...given("a", 1, 2, 3, 4, 5), ...given("b", 6), started("a", 1), ended("b", 6));
    expect(run.decisions("take-back")).toEqual([]);
    run.at += 1000;
    run.tell(...[1, 2, 3, 4, 5].map((line) => ended("a", line)));
    expect(run.decisions("take-back")).toEqual([]);
  });

  test("while machines still give jobs back, only idle slots get some; the others are dealt when all are back", () => {
    const run = aRun({ jobs: 17, machines: { a: 1, b: 1, c: 1 } });
    run.tell(...given("a", 1, 2, 3, 4, 5, 6, 7, 8), ...given("b", 9, 10, 11, 12, 13, 14, 15, 16));
    run.tell(...given("c", 17), started("a", 1), started("b", 9), ended("c", 17));
    run.begin();
    run.at += 1000;
    const [first, second] = run.begin().filter(({ kind }) => kind === "take-back");
    run.tell(takenBack("a", [...linesFor([first as Decision], "a")]));
    run.settle(first as Decision);
    expect(run.news("jobs-assigned")).toMatchObject([{ machine: "c", jobs: [expect.any(Number)] }]);
    run.tell(takenBack("b", [...linesFor([second as Decision], "b")]));
    run.settle(second as Decision);
    const dealt = run
      .news("jobs-assigned")
      .flatMap((news) => (news.kind === "jobs-assigned" ? news.jobs : []));
    expect(dealt).toHaveLength(run.state.waiting.size);
  });

  test("a job that waits for room goes to an idle machine, but only once", () => {
    const run = aRun({ jobs: 2, machines: { a: 1, b: 1 } });
    const waits = (machine: string): News => ({ kind: "slot-waiting", machine, slot: 0, reason: "jobs:1" });
    run.tell(...given("a", 1), ...given("b", 2), waits("a"), ended("b", 2), collected("b", 2));
    run.begin();
    run.at += 1000;
    expect(run.decisions("take-back")).toEqual([{ kind: "take-back", machine: "a", jobs: [1] }]);
    run.tell(takenBack("a", [1]));
    expect(run.news("jobs-assigned")).toMatchObject([{ machine: "b", jobs: [1] }]);
    run.tell(...given("b", 1), waits("b"));
    run.decisions();
    run.at += 1000;
    expect(run.decisions("take-back")).toEqual([]);
  });

  test("a job stays where another one has started since", () => {
    const run = aRun({ jobs: 3, machines: { a: 2, b: 1 } });
    run.tell(...given("a", 1, 2), ...given("b", 3));
    run.tell({ kind: "slot-waiting", machine: "a", slot: 0, reason: "jobs:1" }, started("a", 1));
    run.tell(ended("b", 3), collected("b", 3));
    run.begin();
    run.at += 1000;
    expect(run.decisions("take-back")).toEqual([]);
  });

  test("not while every machine has work, and not for one job that is about to begin", () => {
    const busy = aRun({ jobs: 4, machines: { a: 1, b: 1 } });
    busy.tell(...given("a", 1, 2, 3), ...given("b", 4), started("a", 1), started("b", 4));
    busy.decisions();
    busy.at += 1000;
    expect(busy.decisions("take-back")).toEqual([]);
    const last = aRun({ jobs: 2, machines: { a: 1, b: 1 } });
    last.tell(...given("a", 1), ...given("b", 2), ended("b", 2));
    last.decisions();
    last.at += 1000;
    expect(last.decisions("take-back")).toEqual([]);
  });
});

describe("jobs that arrive while the batch runs", () => {
  const late = { id: 1, line: 1, name: "stdin.1", command: "true" };

  function anOpenRun() {
    const run = aNewRun({ jobs: 0, machines: { a: 1 } });
    run.state.isMoreToCome = true;
    return run;
  }

  test("machines are connected before the first job arrives, and stay if there is nothing to do", () => {
    const run = anOpenRun();
    expect(run.begin()).toEqual([{ kind: "connect", machine: "a", resumes: false }]);
    run.tell(ready("a", 1));
    run.settle({ kind: "connect", machine: "a", resumes: false });
    expect(run.decisions()).toEqual([]);
    expect(run.isOver()).toBe(false);
  });

  test("a new job is dealt at once; a known one is ignored", () => {
    const run = anOpenRun();
    run.tell(ready("a", 1), { kind: "jobs-added", jobs: [late], position: null });
    expect(run.news("jobs-assigned")).toMatchObject([{ machine: "a", jobs: [1] }]);
    run.tell(assigned("a", 1), { kind: "jobs-added", jobs: [late], position: null });
    expect(run.job(1)?.kind).toBe("assigned");
  });

  test("a machine is finished when no more jobs will arrive", () => {
    const run = anOpenRun();
    run.tell(ready("a", 1));
    run.tell({ kind: "jobs-complete" });
    expect(run.decisions()).toEqual([{ kind: "finish", machine: "a", cleans: false }]);
  });

  test("after Ctrl-C nothing more is read, and jobs that still arrive are dropped", () => {
    const run = anOpenRun();
    run.tell(ready("a", 1), interrupted("drain"), { kind: "jobs-added", jobs: [late], position: null });
    expect(run.job(1)?.kind).toBe("dropped");
    expect(run.decisions("finish")).toHaveLength(1);
  });

  test("without any machine left the run is over", () => {
    const run = anOpenRun();
    run.tell(failed("a"));
    expect(run.isOver()).toBe(true);
  });
});

describe("a spool of an older version", () => {
  test("gets no jobs: jobs that may not have arrived are taken back", () => {
    const run = aNewRun({ jobs: 2, machines: { a: 1, old: 1 }, older: ["old"] });
    replay(run.state, [{ ...assigned("old", 1, 2), at: 0 } as RunEvent]);
    const [connect] = run.begin().filter(({ machine }) => machine === "old");
    run.tell(ready("old", 1));
    run.settle(connect as Decision);
    expect(run.decisions("hand-over")).toEqual([]);
    expect(run.decisions("take-back")).toEqual([{ kind: "take-back", machine: "old", jobs: [1, 2] }]);
  });

  test("keeps its waiting jobs while no other machine can take them, then gives all back", () => {
    const run = aNewRun({ jobs: 3, machines: { a: 1, old: 1 }, older: ["old"] });
    replay(
      run.state,
      given("old", 1, 2, 3).map((news) => ({ ...news, at: 0 }) as RunEvent),
    );
    const connects = run.begin();
    run.tell(ready("old", 1), started("old", 1));
    run.settle(connects.find(({ machine }) => machine === "old") as Decision);
    expect(run.decisions("take-back")).toEqual([]);
    run.tell(ready("a", 1));
    run.settle(connects.find(({ machine }) => machine === "a") as Decision);
    expect(run.decisions("take-back")).toEqual([{ kind: "take-back", machine: "old", jobs: [2, 3] }]);
  });

  test("has attempts with the keys of its format", () => {
    const run = aNewRun({ jobs: 1, machines: { a: 1, old: 1 }, older: ["old"] });
    run.tell(...given("old", 1));
    expect(keyOn(run.state, "old", 1)).toBe("0000001-1");
    run.tell(takenBack("old", [1]), ...given("a", 1));
    expect(keyOn(run.state, "a", 1)).toBe("5000000000001-1-2");
  });
});
