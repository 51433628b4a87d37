import { describe, expect, test } from "vitest";
import type { News, RunEvent } from "../../../../src/model/event.js";
import { forgetJobs, replay } from "../../../../src/plan/fold/replay.js";
import {
  aNewRun,
  aRun,
  back,
  collected,
  ended,
  FAILURE,
  freeing,
  given,
  handedOver,
  lost,
  ready,
  runStarted,
  SUCCESS,
  started,
  takenBack,
} from "../a-run.js";

test("results that could not be collected are tried again by the next client", () => {
  const run = aNewRun({ jobs: 1, machines: { a: 1 } });
  const stuck = { kind: "job-stuck", job: 1, attempt: 1, machine: "a", reason: "a device" } as const;
  const record = [...given("a", 1), ended("a", 1), stuck, { kind: "machine-done", machine: "a" } as const];
  replay(
    run.state,
    record.map((news) => ({ ...news, at: 0 }) as RunEvent),
  );
  const [connect] = run.begin();
  expect(connect).toEqual({ kind: "connect", machine: "a", resumes: true });
  run.tell(ready("a", 1));
  expect(run.decisions("collect")).toEqual([{ kind: "collect", machine: "a", jobs: [1] }]);
});

describe("a job whose earlier results are stuck on the only machine", () => {
  const stuck: News = { kind: "job-stuck", job: 1, attempt: 1, machine: "a", reason: "a device" };
  const record = [...given("a", 1), { kind: "job-replaced", job: 1 } as const, ended("a", 1), stuck];

  test("is assigned to it again", () => {
    const run = aRun({ jobs: 1, machines: { a: 1 } });
    run.tell(...record);
    expect(run.news("jobs-assigned")).toMatchObject([{ machine: "a", jobs: [1], attempts: [2] }]);
  });

  test("has the later results once the next client has collected them", () => {
    const run = aNewRun({ jobs: 1, machines: { a: 1 } });
    const again: News = { kind: "jobs-assigned", machine: "a", jobs: [1], attempts: [2] };
    replay(run.state, recorded(...record, again, handedOver("a", 1)));
    run.tell(ready("a", 1), ended("a", 1, SUCCESS, 2), collected("a", 1, SUCCESS, 2));
    expect(run.job(1)).toMatchObject({ kind: "collected", outcome: SUCCESS });
  });
});

test("stuck results that a later client collected are not requested by a third one", () => {
  const run = aNewRun({ jobs: 1, machines: { a: 1 } });
  const stuck: News = { kind: "job-stuck", job: 1, attempt: 1, machine: "a", reason: "a device" };
  replay(
    run.state,
    recorded(runStarted(), ...given("a", 1), ended("a", 1), stuck, runStarted(), collected("a", 1)),
  );
  expect(run.job(1)).toMatchObject({ kind: "collected", outcome: SUCCESS });
});

function recorded(...news: News[]): RunEvent[] {
  return news.map((each) => ({ ...each, at: 0 }) as RunEvent);
}

test("a job that was about to be retried when everything was stopped stays stopped for the next client", () => {
  const run = aNewRun({ jobs: 1, machines: { a: 1 } });
  const start = runStarted([{ id: 1, line: 1, name: "j.1", command: "x" }]);
  const stopped: News = { kind: "interrupted", mode: "stop" };
  const retried: News = { kind: "jobs-retried", machine: "a", jobs: [1] };
  const failed = [ended("a", 1, FAILURE), collected("a", 1, FAILURE)];
  replay(run.state, recorded(start, ...given("a", 1), ...failed, stopped, retried));
  expect(run.job(1)).toEqual({ kind: "stopped" });
});

test("what was queued of a command that changed is taken back by the next client too", () => {
  const run = aNewRun({ jobs: 1, machines: { a: 1, b: 1 } });
  const replaced = { kind: "job-replaced", job: 1 } as const;
  const record = [...given("a", 1), replaced, ...given("b", 1)];
  replay(
    run.state,
    record.map((news) => ({ ...news, at: 0 }) as RunEvent),
  );
  run.begin();
  run.tell(ready("a", 1), ready("b", 1));
  expect(run.decisions("take-back")).toEqual([{ kind: "take-back", machine: "a", jobs: [1] }]);
});

describe("a line that is no longer in the batch file", () => {
  test("is forgotten when its results are collected, and they are still freed", () => {
    const run = aRun({ jobs: 2, machines: { a: 1 } });
    run.tell(...given("a", 1, 2), ended("a", 1), collected("a", 1));
    forgetJobs(run.state, [1]);
    expect([...run.state.jobs.keys()]).toEqual([2]);
    expect(run.begin()).toEqual([freeing("a", "5000000000001-1-1")]);
    run.settle({ kind: "free", machine: "a", attempts: [] });
    expect(run.decisions()).toEqual([]);
  });

  test("is not retried", () => {
    const run = aRun({ jobs: 2, machines: { a: 1 }, policy: { retriesFailures: true } });
    run.tell(...given("a", 1, 2), ended("a", 1, FAILURE), collected("a", 1, FAILURE));
    forgetJobs(run.state, [1]);
    expect(run.decisions("retry")).toEqual([]);
  });

  test("stays while a machine has it", () => {
    const run = aRun({ jobs: 3, machines: { a: 1 } });
    run.tell(...given("a", 1, 2), started("a", 1));
    forgetJobs(run.state, [1, 2, 3]);
    expect([...run.state.jobs.keys()]).toEqual([1, 2]);
  });

  test("is not given to other machines if its machine was given up, but followed there", () => {
    const run = aRun({ jobs: 1, machines: { a: 1, b: 1 } });
    run.tell(...given("a", 1), lost("a"), { kind: "jobs-reassigned", machine: "a", jobs: [1] });
    forgetJobs(run.state, [1]);
    expect(run.news("jobs-assigned")).toEqual([]);
    run.tell(back("a"), started("a", 1), ended("a", 1), collected("a", 1));
    expect(run.job(1)).toMatchObject({ kind: "collected", outcome: SUCCESS });
  });

  test("whose attempt was taken back before it began is gone", () => {
    const run = aRun({ jobs: 1, machines: { a: 1 } });
    run.tell(...given("a", 1), takenBack("a", [1]));
    forgetJobs(run.state, [1]);
    expect(run.state.jobs.size).toBe(0);
    expect(run.state.tally.waiting).toBe(0);
  });
});
