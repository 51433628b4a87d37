import { describe, expect, test } from "vitest";
import type { News } from "../../../src/model/event.js";
import { keptOn, lastKept } from "../../../src/plan/kept-dirs.js";
import {
  type ARun,
  aRun,
  assigned,
  collected,
  ended,
  FAILURE,
  freeing,
  given,
  LOST,
  lost,
  type RunFacts,
  ready,
  runStarted,
  SUCCESS,
  started,
} from "./a-run.js";

const retried = (machine: string, ...jobs: number[]): News => ({ kind: "jobs-retried", machine, jobs });
const KEY = "5000000000001-1-1";

function aKeepingRun(facts: RunFacts): ARun {
  const run = aRun(facts);
  run.tell(runStarted([], { keepsDir: true }));
  return run;
}

/** Assigned to a machine, begun, and ended. */
function failedOn(machine: string, job: number, attempt = 1): News[] {
  return [
    ...given(machine, job),
    started(machine, job, attempt),
    ended(machine, job, FAILURE, attempt),
    collected(machine, job, FAILURE, attempt),
  ];
}

function dealtTo(run: ARun): string[] {
  return run.news("jobs-assigned").map((news) => (news.kind === "jobs-assigned" ? news.machine : ""));
}

describe("where a job resumes", () => {
  test("on the machine that has its directory, even if another has less to do", () => {
    const run = aKeepingRun({ jobs: 4, machines: { a: 1, b: 1 } });
    run.tell(...failedOn("a", 1), ...given("a", 2, 3, 4), retried("a", 1));
    expect(dealtTo(run)).toEqual(["a"]);
  });

  test("elsewhere, without --keep-dir", () => {
    const run = aRun({ jobs: 1, machines: { a: 1, b: 1 } });
    run.tell(runStarted(), ...failedOn("a", 1), retried("a", 1));
    expect(dealtTo(run)).toEqual(["b"]);
  });

  test("an unreachable machine is awaited for --reassign-after", () => {
    const run = aKeepingRun({ jobs: 1, machines: { a: 1, b: 1 } });
    run.tell(...failedOn("a", 1), lost("a"), retried("a", 1));
    run.at += 599_000;
    expect(run.news()).toEqual([]);
    run.at += 1000;
    run.tell(...run.news("jobs-reassigned"));
    expect(dealtTo(run)).toEqual(["b"]);
  });

  test("a drained machine is not awaited", () => {
    const run = aKeepingRun({ jobs: 1, machines: { a: 1, b: 1 } });
    run.tell(...failedOn("a", 1), { kind: "machine-draining", machine: "a" }, retried("a", 1));
    expect(dealtTo(run)).toEqual(["b"]);
  });

  test("balancing moves other jobs from there, but not those with directories there", () => {
    const run = aKeepingRun({ jobs: 6, machines: { a: 1, b: 1 } });
    run.tell(...failedOn("a", 6), retried("a", 6));
    run.tell(...given("a", 1, 2, 3, 4, 5));
    run.tell({ kind: "jobs-assigned", machine: "a", jobs: [6], attempts: [2] });
    run.tell({ kind: "jobs-handed-over", machine: "a", jobs: [6] });
    run.news();
    run.at += 1000;
    const [takeBack] = run.decisions("take-back");
    expect(takeBack).toMatchObject({ machine: "a", jobs: [3, 4, 5] });
  });
});

describe("how long a directory stays", () => {
  test("after a failure it is not freed, and the spool is not cleaned", () => {
    const run = aKeepingRun({ jobs: 1, machines: { a: 1 } });
    run.tell(...failedOn("a", 1));
    expect(run.decisions()).toEqual([{ kind: "finish", machine: "a", cleans: false, keeps: [KEY] }]);
    run.tell({ kind: "dirs-kept", machine: "a", jobs: [1], bytes: 1 });
    run.tell({ kind: "machine-done", machine: "a" });
    expect(run.state.machines.get("a")?.hasSpool).toBe(true);
    expect(run.isOver()).toBe(true);
  });

  test("a directory that the machine no longer has does not stay", () => {
    const run = aKeepingRun({ jobs: 1, machines: { a: 1 } });
    run.tell(...failedOn("a", 1), { kind: "dirs-kept", machine: "a", jobs: [], bytes: 0 });
    run.tell({ kind: "machine-done", machine: "a" });
    expect(run.state.machines.get("a")?.hasSpool).toBe(false);
  });

  test("a success frees it, also on other machines", () => {
    const run = aKeepingRun({ jobs: 2, machines: { a: 1, b: 1 } });
    run.tell(...failedOn("a", 1), retried("a", 1));
    run.tell({ kind: "jobs-assigned", machine: "b", jobs: [1], attempts: [2] });
    run.tell(ended("b", 1, SUCCESS, 2), collected("b", 1, SUCCESS, 2));
    expect(run.decisions("free")).toContainEqual(freeing("a", KEY));
  });

  test("a later attempt that began has everything; one that never began has nothing", () => {
    const run = aKeepingRun({ jobs: 1, machines: { a: 1, b: 1 } });
    const tracked = () => run.state.jobs.get(1) as NonNullable<ReturnType<typeof run.state.jobs.get>>;
    run.tell(...failedOn("a", 1), retried("a", 1), assigned("a", 1));
    run.tell(ended("a", 1, { kind: "stopped" }, 2), collected("a", 1, { kind: "stopped" }, 2));
    expect(keptOn(tracked(), "a").map(({ number }) => number)).toEqual([1, 2]);
    expect(lastKept(tracked())?.number).toBe(1);
    run.tell({ kind: "job-reopened", job: 1 }, assigned("b", 1), started("b", 1, 3));
    run.tell(ended("b", 1, LOST, 3), collected("b", 1, LOST, 3));
    expect(keptOn(tracked(), "a")).toEqual([]);
    expect(lastKept(tracked())).toMatchObject({ number: 3, machine: "b" });
  });

  test("a run without --keep-dir frees it", () => {
    const run = aKeepingRun({ jobs: 2, machines: { a: 1 } });
    run.tell(...failedOn("a", 1), runStarted());
    expect(run.decisions("free")).toEqual([freeing("a", KEY)]);
  });

  test("a machine with only such directories is not connected without need", () => {
    const run = aKeepingRun({ jobs: 1, machines: { a: 1 } });
    run.tell(...failedOn("a", 1), { kind: "machine-done", machine: "a" });
    Object.assign(run.state.machines.get("a") ?? {}, { phase: "new" });
    run.tell(ready("a", 0));
    Object.assign(run.state.machines.get("a") ?? {}, { phase: "new" });
    expect(run.decisions("connect")).toEqual([]);
    expect(run.isOver()).toBe(true);
  });
});

describe("the last collected copy", () => {
  test("moves with the results", () => {
    const run = aKeepingRun({ jobs: 1, machines: { a: 1 } });
    const copy = () => run.state.jobs.get(1)?.traits.copy;
    run.tell(...failedOn("a", 1));
    expect(copy()).toBe("jobs.sh.1");
    run.tell({ kind: "job-reopened", job: 1, aside: "jobs.sh.1.old-1" });
    expect(copy()).toBe("jobs.sh.1.old-1");
    const counts = { moved: 1, aside: 0, dropped: 0, added: 0 };
    const moves = [{ job: 1, from: "jobs.sh.1", to: "jobs.sh.2" }];
    const files = [
      ["jobs.sh.1.old-1", "jobs.sh.2.old-1"],
      ["jobs.sh.2.old-1", "jobs.sh.3.old-1"],
    ] as const;
    const edited = {
      ...runStarted([], { keepsDir: true }),
      edit: { moves, gone: [], after: [], files, counts },
    };
    run.tell(edited as News, edited as News);
    expect(copy()).toBe("jobs.sh.2.old-1");
  });

  test("is forgotten when its results were removed, or the job has succeeded", () => {
    const run = aKeepingRun({ jobs: 2, machines: { a: 1 } });
    run.tell(...failedOn("a", 1), { kind: "job-reopened", job: 1 });
    expect(run.state.jobs.get(1)?.traits.copy).toBeNull();
    run.tell(...given("a", 2), started("a", 2), ended("a", 2), collected("a", 2));
    expect(run.state.jobs.get(2)?.traits.copy).toBeNull();
  });
});
