import { describe, expect, test } from "vitest";
import type { News, RunEvent } from "../../../../src/model/event.js";
import type { ScriptEdit } from "../../../../src/model/script-edit.js";
import { forgetGone } from "../../../../src/plan/fold/edit-events.js";
import { readPast } from "../../../../src/plan/fold/read-past.js";
import { replay } from "../../../../src/plan/fold/replay.js";
import {
  aNewRun,
  aRun,
  collected,
  ended,
  FAILURE,
  given,
  lost,
  runStarted,
  SUCCESS,
  started,
  takenBack,
} from "../a-run.js";

const COUNTS = { moved: 0, aside: 0, dropped: 0, added: 0 };

function edited(edit: Partial<ScriptEdit>, jobs: Parameters<typeof runStarted>[0] = []): News {
  const whole = { moves: [], gone: [], after: [], files: [], counts: COUNTS, ...edit };
  return { ...runStarted(jobs), edit: whole } as News;
}

const GONE_1 = { moves: [{ job: 1, from: "jobs.sh.1", to: "jobs.sh.1.old-1" }], gone: [1] };

describe("a job whose command is gone", () => {
  test("leaves the run if no machine has anything of it", () => {
    const run = aRun({ jobs: 2, machines: { a: 1 } });
    run.tell(edited({ gone: [1] }));
    expect([...run.state.jobs.keys()]).toEqual([2]);
    expect(run.news("jobs-assigned")).toMatchObject([{ jobs: [2] }]);
  });

  test("is taken back if it waits on a machine, and then leaves the run", () => {
    const run = aRun({ jobs: 2, machines: { a: 1 } });
    run.tell(...given("a", 1, 2), edited(GONE_1));
    expect(run.decisions("take-back")).toEqual([{ kind: "take-back", machine: "a", jobs: [1] }]);
    run.tell(takenBack("a", [1]));
    expect([...run.state.jobs.keys()]).toEqual([2]);
    expect(run.state.tally.waiting).toBe(1);
    expect(run.news("jobs-assigned")).toEqual([]);
  });

  test("is followed to its end if it has begun, under its new name", () => {
    const run = aRun({ jobs: 1, machines: { a: 1 } });
    run.tell(...given("a", 1), edited(GONE_1), takenBack("a", [], [1]), ended("a", 1));
    expect(run.decisions("collect")).toEqual([{ kind: "collect", machine: "a", jobs: [1] }]);
    run.tell(collected("a", 1));
    expect(run.job(1)).toMatchObject({ kind: "collected", outcome: SUCCESS });
    expect(run.state.jobs.get(1)?.job.name).toBe("jobs.sh.1.old-1");
    forgetGone(run.state);
    expect(run.state.jobs.size).toBe(0);
  });

  test("is not retried when it fails", () => {
    const run = aRun({ jobs: 1, machines: { a: 1 }, policy: { retriesFailures: true } });
    run.tell(...given("a", 1), started("a", 1), edited(GONE_1));
    run.tell(ended("a", 1, FAILURE), collected("a", 1, FAILURE));
    expect(run.decisions("retry")).toEqual([]);
  });

  test("is the same job if its command comes back before it was taken back", () => {
    const run = aRun({ jobs: 1, machines: { a: 1 } });
    run.tell(...given("a", 1), edited(GONE_1));
    run.tell(edited({ moves: [{ job: 1, from: "jobs.sh.1.old-1", to: "jobs.sh.1" }] }));
    expect(run.decisions("take-back")).toEqual([]);
    expect(run.job(1)).toMatchObject({ kind: "queued", machine: "a" });
  });
});

describe("a job that is another version of a line", () => {
  const next = { id: 2, line: 1, name: "jobs.sh.1", command: "false", order: 1 };
  const edit = edited({ ...GONE_1, after: [[2, 1]] }, [next]);

  test("starts when the earlier version was taken back", () => {
    const run = aRun({ jobs: 1, machines: { a: 1, b: 1 } });
    run.tell(...given("a", 1), edit);
    expect(run.news("jobs-assigned")).toEqual([]);
    run.tell(takenBack("a", [1]));
    expect(run.news("jobs-assigned")).toMatchObject([{ jobs: [2] }]);
  });

  test("starts beside an earlier version that has begun", () => {
    const run = aRun({ jobs: 1, machines: { a: 1, b: 1 } });
    run.tell(...given("a", 1), edit, takenBack("a", [], [1]));
    expect(run.news("jobs-assigned")).toMatchObject([{ machine: "b", jobs: [2] }]);
  });

  test("starts when the machine of the earlier version is given up", () => {
    const run = aRun({ jobs: 1, machines: { a: 1, b: 1 } });
    run.tell(...given("a", 1), edit, lost("a"));
    expect(run.news("jobs-assigned")).toEqual([]);
    run.at += 600_000;
    const [givenUp] = run.news("jobs-reassigned");
    run.tell(givenUp as News);
    expect(run.news("jobs-assigned")).toMatchObject([{ machine: "b", jobs: [2] }]);
  });
});

describe("the next client", () => {
  const job = { id: 1, line: 1, name: "jobs.sh.1", command: "true" };
  const moved = { ...job, line: 3, name: "jobs.sh.3", order: 3 };
  const edit = edited({ moves: [{ job: 1, from: "jobs.sh.1", to: "jobs.sh.3" }] }, [moved]);
  const record = (...news: News[]) => news.map((each) => ({ ...each, at: 0 }) as RunEvent);

  test("uses the key that the attempt had at the hand-over", () => {
    const run = aNewRun({ jobs: 1, machines: { a: 1 } });
    replay(run.state, record(runStarted([job]), ...given("a", 1), edit));
    expect(run.attempts(1)[0]?.rank).toBe(1);
    expect(run.state.jobs.get(1)?.job.name).toBe("jobs.sh.3");
  });

  test("knows whether results must still be moved", () => {
    const events = record(runStarted([job]), ...given("a", 1), edit);
    expect(readPast(events)?.unmoved?.moves).toHaveLength(1);
    expect(readPast([...events, ...record({ kind: "results-moved" })])?.unmoved).toBeNull();
    expect(readPast(events)?.jobs.get(1)?.name).toBe("jobs.sh.3");
  });
});
