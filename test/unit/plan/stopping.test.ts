import { describe, expect, test } from "vitest";
import type { News, RunEvent } from "../../../src/model/event.js";
import { replay } from "../../../src/plan/fold/replay.js";
import { countJobs } from "../../../src/plan/run-state.js";
import {
  aNewRun,
  aRun,
  assigned,
  given,
  interrupted,
  ready,
  runStarted,
  started,
  takenBack,
} from "./a-run.js";

const stopping = (...jobs: number[]): News => ({ kind: "jobs-stopping", jobs });
const resumed = (...jobs: number[]): News => ({ kind: "jobs-resumed", jobs });
const recorded = (...news: News[]) => news.map((each) => ({ ...each, at: 0 }) as RunEvent);

describe("jobs that a user stops, while the others continue", () => {
  test("one that waits at the client is stopped at once, and not dealt", () => {
    const run = aRun({ jobs: 2, machines: { a: 1 } });
    run.tell(stopping(1));
    expect(run.job(1)).toEqual({ kind: "stopped" });
    expect(run.news("jobs-assigned")).toMatchObject([{ jobs: [2] }]);
  });

  test("one that was not sent stays at the client, and the others are handed over", () => {
    const run = aRun({ jobs: 3, machines: { a: 1 } });
    run.tell(assigned("a", 1, 2, 3), stopping(1));
    expect(run.news("jobs-taken-back")).toEqual([
      { kind: "jobs-taken-back", machine: "a", jobs: [1], begun: [] },
    ]);
    expect(run.decisions("hand-over")).toMatchObject([{ jobs: [2, 3] }]);
  });

  test("queued jobs are taken back, running ones are stopped", () => {
    const run = aRun({ jobs: 4, machines: { a: 1 } });
    run.tell(...given("a", 1, 2, 3, 4), started("a", 1), stopping(1, 3));
    expect(run.decisions("take-back")).toEqual([{ kind: "take-back", machine: "a", jobs: [3] }]);
    expect(run.decisions("stop")).toEqual([{ kind: "stop", machine: "a", jobs: [1] }]);
    run.tell(takenBack("a", [3]));
    expect(run.job(3)).toEqual({ kind: "stopped" });
    expect(countJobs(run.state)).toMatchObject({ stopped: 1, unfinished: 3 });
  });

  test("one that is requested again waits", () => {
    const run = aRun({ jobs: 1, machines: { a: 1 } });
    run.tell(stopping(1), resumed(1));
    expect(run.news("jobs-assigned")).toMatchObject([{ jobs: [1] }]);
  });
});

describe("what the next client knows", () => {
  test("stopped jobs stay stopped, and running ones are stopped when the machine answers", () => {
    const run = aNewRun({ jobs: 3, machines: { a: 1 } });
    replay(run.state, recorded(...given("a", 1, 2), started("a", 1), stopping(1, 2, 3)));
    expect(run.job(3)).toEqual({ kind: "stopped" });
    run.tell(ready("a", 1));
    expect(run.decisions("stop")).toEqual([{ kind: "stop", machine: "a", jobs: [1] }]);
    expect(run.decisions("take-back")).toEqual([{ kind: "take-back", machine: "a", jobs: [2] }]);
  });

  test("after a second Ctrl-C none of its jobs waits; jobs of a later run do", () => {
    const run = aNewRun({ jobs: 3, machines: { a: 1 } });
    const first = runStarted([...run.state.jobs.values()].slice(0, 2).map(({ job }) => job));
    replay(run.state, recorded(first, interrupted("stop")));
    expect([1, 2, 3].map((id) => run.job(id)?.kind)).toEqual(["stopped", "stopped", "waiting"]);
  });

  test("a drain does not change waiting jobs", () => {
    const run = aNewRun({ jobs: 1, machines: { a: 1 } });
    const jobs = [...run.state.jobs.values()].map(({ job }) => job);
    replay(run.state, recorded(runStarted(jobs), interrupted("drain")));
    expect(run.job(1)).toEqual({ kind: "waiting" });
  });
});
