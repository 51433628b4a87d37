import { describe, expect, test } from "vitest";
import { countJobs } from "../../../../src/plan/run-state.js";
import {
  aRun,
  assigned,
  collected,
  ended,
  FAILURE,
  failed,
  given,
  handedOver,
  interrupted,
  LOST,
  SUCCESS,
  started,
  takenBack,
} from "../a-run.js";

const NONE = { succeeded: 0, failed: 0, stopped: 0, lost: 0, unfinished: 0, skipped: 0 };
const TWO = { a: 1, b: 1 };

describe("the stages of a job", () => {
  test("waiting, queued, running, ended, collected", () => {
    const run = aRun({ jobs: 1, machines: TWO });
    expect(run.job(1)).toEqual({ kind: "waiting" });
    run.tell(...given("a", 1));
    expect(run.job(1)).toEqual({ kind: "queued", machine: "a" });
    run.at = 100;
    run.tell(started("a", 1));
    expect(run.job(1)).toEqual({
      kind: "running",
      machine: "a",
      slot: 0,
      startedAt: 100,
      isStopping: false,
    });
    run.at = 200;
    run.tell(ended("a", 1, FAILURE));
    const ending = { slot: 0, startedAt: 100, endedAt: 110, durationMs: 10, outcome: FAILURE };
    expect(run.job(1)).toEqual({ kind: "ended", machine: "a", ...ending });
    run.tell(collected("a", 1, FAILURE));
    const there = { isThere: true, isKept: false, isToRetry: false, missing: [] };
    expect(run.job(1)).toEqual({ kind: "collected", machine: "a", ...ending, ...there });
  });

  test("a quick job may end before its start is reported", () => {
    const run = aRun({ jobs: 1, machines: TWO });
    run.tell(...given("a", 1), ended("a", 1));
    expect(run.job(1)).toMatchObject({ kind: "ended", machine: "a", slot: null, outcome: SUCCESS });
  });

  test("repeated news changes nothing", () => {
    const run = aRun({ jobs: 1, machines: TWO });
    run.tell(...given("a", 1), started("a", 1), ended("a", 1), started("a", 1), ended("a", 1, FAILURE));
    expect(run.job(1)).toMatchObject({ kind: "ended", machine: "a", outcome: SUCCESS });
    run.tell(collected("a", 1), collected("a", 1), ended("a", 1, FAILURE));
    expect(run.job(1)).toMatchObject({ kind: "collected", outcome: SUCCESS });
    expect(countJobs(run.state)).toMatchObject({ succeeded: 1, failed: 0, unfinished: 0 });
  });

  test("a job that is collected before its end is known stays collected", () => {
    const run = aRun({ jobs: 1, machines: TWO });
    run.tell(...given("a", 1), started("a", 1), collected("a", 1));
    expect(run.job(1)).toMatchObject({ kind: "running" });
  });

  test("each assignment is a new attempt, and news of an old one does not change the new one", () => {
    const run = aRun({ jobs: 1, machines: TWO });
    run.tell(...given("a", 1), takenBack("a", [1]), ...given("b", 1));
    expect(run.state.jobs.get(1)?.lastNumber).toBe(2);
    run.tell(started("a", 1), ended("a", 1, FAILURE));
    expect(run.job(1)).toEqual({ kind: "queued", machine: "b" });
    run.tell(ended("b", 1, SUCCESS, 2));
    expect(run.job(1)).toMatchObject({ kind: "ended", machine: "b" });
  });

  test("lines that are not in the batch are ignored", () => {
    const run = aRun({ jobs: 1, machines: TWO });
    run.tell(...given("a", 7), started("a", 7), ended("a", 7), collected("a", 7));
    expect([...run.state.jobs.keys()]).toEqual([1]);
  });

  test("an event of an unknown machine is a bug of ours", () => {
    expect(() => aRun({ jobs: 1, machines: TWO }).tell(assigned("c", 1))).toThrow("no machine c");
  });
});

describe("taking back", () => {
  test("jobs that had not begun wait again, the others stay", () => {
    const run = aRun({ jobs: 3, machines: TWO });
    run.tell(...given("a", 1, 2, 3), takenBack("a", [2, 3], [1]));
    expect([...run.state.waiting]).toEqual([2, 3]);
    expect(run.job(1)).toMatchObject({ kind: "running", machine: "a", slot: null });
  });

  test("a late answer does not take the job from its new machine", () => {
    const run = aRun({ jobs: 1, machines: TWO });
    run.tell(...given("a", 1), takenBack("a", [1]), ...given("b", 1), takenBack("a", [1]));
    expect(run.job(1)).toEqual({ kind: "queued", machine: "b" });
  });
});

describe("a machine that fails", () => {
  test("the fate of its jobs is unknown; finished jobs stay finished", () => {
    const run = aRun({ jobs: 5, machines: TWO });
    run.tell(...given("a", 1, 2, 3, 4), started("a", 2), ended("a", 3), ended("a", 4), collected("a", 4));
    run.tell(failed("a"));
    for (const line of [1, 2, 3]) expect(run.job(line)).toEqual({ kind: "unknown", machine: "a" });
    expect(run.job(4)).toMatchObject({ kind: "collected" });
    expect(run.job(5)).toEqual({ kind: "waiting" });
    expect(countJobs(run.state)).toEqual({ ...NONE, succeeded: 1, unfinished: 4 });
  });

  test("jobs that it could not accept go to other machines, and it gets no more", () => {
    const run = aRun({ jobs: 2, machines: TWO });
    run.tell(assigned("a", 1, 2), handedOver("a", 1));
    run.tell({ kind: "machine-refused", machine: "a", jobs: [2], reason: "full", hint: null });
    expect(run.job(1)).toEqual({ kind: "queued", machine: "a" });
    expect([...run.state.waiting]).toEqual([2]);
    expect(run.news("jobs-assigned")).toMatchObject([{ machine: "b", jobs: [2] }]);
  });

  test("a job that is refused because it was there already does not change", () => {
    const run = aRun({ jobs: 2, machines: { a: 1 } });
    run.tell(...given("a", 1), ended("a", 1), collected("a", 1), ...given("a", 2), started("a", 2));
    run.tell({ kind: "machine-refused", machine: "a", jobs: [1, 2], reason: "full", hint: null });
    expect(run.job(1)?.kind).toBe("collected");
    expect(run.job(2)?.kind).toBe("running");
  });
});

describe("an interrupt", () => {
  test("drops waiting jobs, and jobs that are taken back after it", () => {
    const run = aRun({ jobs: 3, machines: TWO });
    run.tell(...given("a", 1, 2), started("a", 1), interrupted("drain"), takenBack("a", [2]));
    expect([run.job(2), run.job(3)]).toEqual([{ kind: "dropped" }, { kind: "dropped" }]);
    expect(run.job(1)).toMatchObject({ kind: "running" });
    run.tell(ended("a", 1), collected("a", 1));
    expect(countJobs(run.state)).toEqual({ ...NONE, succeeded: 1, unfinished: 2 });
  });

  test("failed or lost jobs are not retried after it", () => {
    const run = aRun({ jobs: 1, machines: TWO });
    run.tell(...given("a", 1), interrupted("drain"), ended("a", 1, LOST), collected("a", 1, LOST));
    expect(run.decisions("retry")).toEqual([]);
    expect(run.job(1)).toMatchObject({ kind: "collected", outcome: LOST });
  });
});

describe("counting", () => {
  test("results from before count by their outcome, and without a record as done", () => {
    const run = aRun({ jobs: 6, machines: TWO });
    run.tell(
      { kind: "job-skipped", job: 1, outcome: SUCCESS },
      { kind: "job-skipped", job: 2, outcome: FAILURE },
      { kind: "job-skipped", job: 3, outcome: null },
      { kind: "job-skipped", job: 5, outcome: { kind: "stopped" } },
      { kind: "job-skipped", job: 6, outcome: LOST },
    );
    const before = { succeeded: 2, failed: 1, stopped: 1, lost: 1, skipped: 5 };
    expect(countJobs(run.state)).toEqual({ ...before, unfinished: 1 });
    expect([...run.state.waiting]).toEqual([4]);
  });

  test("only exit code 0 is success; stopped and lost jobs have not failed", () => {
    const run = aRun({ jobs: 4, machines: TWO, policy: { retries: 0 } });
    const outcomes = [
      LOST,
      { kind: "killed", signal: "SIGKILL" },
      { kind: "timed-out" },
      { kind: "stopped" },
    ] as const;
    outcomes.forEach((outcome, n) => {
      run.tell(...given("a", n + 1), ended("a", n + 1, outcome), collected("a", n + 1, outcome));
    });
    expect(countJobs(run.state)).toEqual({ ...NONE, failed: 2, stopped: 1, lost: 1 });
  });
});
