import { describe, expect, test } from "vitest";
import type { News, RunEvent } from "../../../src/model/event.js";
import { kindOf, type Outcome } from "../../../src/model/job.js";
import { isRecorded, recordedPart } from "../../../src/model/recorded.js";
import { crashDue } from "../../../src/plan/crashes.js";
import { apply } from "../../../src/plan/fold/apply.js";
import { initialState } from "../../../src/plan/fold/initial-state.js";
import { replay } from "../../../src/plan/fold/replay.js";
import { haltDue } from "../../../src/plan/halt.js";
import { kindOfJob } from "../../../src/plan/run-state.js";
import { aNeed } from "./a-machine.js";
import {
  type ARun,
  aRun,
  assigned,
  collected,
  ended,
  FAILURE,
  given,
  interrupted,
  ready,
  runStarted,
  SUCCESS,
  started,
} from "./a-run.js";

const OOM: Outcome = { kind: "killed", signal: "SIGKILL", cause: "out-of-memory" };
const BEFORE = aNeed({ memoryMb: 1 });
const LARGER = aNeed({ memoryMb: 2 });
const KIND = kindOf(LARGER);
const POLICY = { retriesOutOfMemory: true };

const grown = (machine: string, job: number, facts: { attempt?: number; prefers?: string } = {}): News => {
  const { attempt = 1, prefers = null } = facts;
  const about = { job, attempt, machine, outcome: OOM, before: BEFORE };
  return { kind: "job-grown", ...about, requirement: LARGER, prefers };
};
const refused = (machine: string, job: number): News => ({
  kind: "job-grown",
  job,
  attempt: 1,
  machine,
  outcome: OOM,
  before: BEFORE,
  requirement: null,
  reason: "no machine can give it more memory",
});
const serves = (machine: string): News => ({ kind: "machine-serves", machine, kinds: [KIND] });
const retried = (machine: string, job: number): News => ({
  kind: "jobs-retried",
  machine,
  jobs: [job],
  grown: [job],
});

function ranOut(machine: string, job: number, attempt = 1): News[] {
  return [
    started(machine, job, attempt),
    ended(machine, job, OOM, attempt),
    collected(machine, job, OOM, attempt),
  ];
}

/** Job 1 of three ran out of memory on machine a. */
function aRunOutOf(policy = {}): ARun {
  const run = aRun({ jobs: 3, machines: { a: 1, b: 1 }, policy: { ...POLICY, ...policy } });
  run.tell(runStarted(), ...given("a", 1), ...given("b", 2, 3), ...ranOut("a", 1));
  return run;
}

const toRetry = (run: ARun) => run.decisions("retry").flatMap((each) => ("jobs" in each ? each.jobs : []));

describe("a job that ran out of memory", () => {
  test("is retried once, with its larger need, and that does not count for --retries", () => {
    const run = aRunOutOf({ retries: 0 });
    expect(toRetry(run)).toEqual([1]);
    run.tell(serves("a"), grown("a", 1));
    expect(toRetry(run)).toEqual([1]);
    run.tell(retried("a", 1));
    const tracked = run.state.jobs.get(1);
    expect(tracked).toMatchObject({ traits: { retries: 0 }, job: { requirement: LARGER, isGrown: true } });
    expect(kindOfJob(run.state, 1)).toBe(KIND);
    // Machine b does not serve the larger need.
    expect(run.news("jobs-assigned")).toEqual([
      { kind: "jobs-assigned", machine: "a", jobs: [1], attempts: [2] },
    ]);
    run.tell(...given("a", 1), ...ranOut("a", 1, 2));
    expect(toRetry(run)).toEqual([]);
    expect(run.job(1)).toMatchObject({ kind: "collected", outcome: OOM });
  });

  test("is not retried without --retry-on-oom, after Ctrl-C, or after another failure", () => {
    expect(toRetry(aRunOutOf({ retriesOutOfMemory: false }))).toEqual([]);
    const left = aRun({ jobs: 1, machines: { a: 1 }, policy: POLICY });
    left.tell(runStarted(), ...given("a", 1), interrupted("drain"), ...ranOut("a", 1));
    expect(toRetry(left)).toEqual([]);
    const failed = aRun({ jobs: 1, machines: { a: 1 }, policy: POLICY });
    failed.tell(runStarted(), ...given("a", 1), ended("a", 1, FAILURE), collected("a", 1, FAILURE));
    expect(toRetry(failed)).toEqual([]);
  });

  test("goes to the machine where most is free, once", () => {
    const run = aRunOutOf();
    run.tell(serves("a"), serves("b"), grown("a", 1, { prefers: "a" }), retried("a", 1));
    expect(run.news("jobs-assigned")).toMatchObject([{ machine: "a", jobs: [1] }]);
    run.tell(assigned("a", 1));
    expect(run.state.grown.get(1)).toMatchObject({ prefers: null });
  });

  test("no larger need: it has failed, unless --retry-on-failure has retries left", () => {
    const run = aRunOutOf();
    run.tell(refused("a", 1));
    expect(toRetry(run)).toEqual([]);
    expect(run.state.tally).toMatchObject({ failed: 1 });
    const again = aRunOutOf({ retriesFailures: true });
    again.tell(refused("a", 1));
    expect(toRetry(again)).toEqual([1]);
  });

  test("counts for --halt only at its last end", () => {
    const halt = { when: "now", why: "fail", amount: 1, unit: "jobs" } as const;
    const run = aRunOutOf({ halt });
    expect(haltDue(run.state)).toBeNull();
    run.tell(refused("a", 1));
    expect(haltDue(run.state)).toMatchObject({ count: 1 });
    const other = aRunOutOf({ halt });
    other.tell(serves("a"), grown("a", 1), retried("a", 1), ...given("a", 1), ended("a", 1, SUCCESS, 2));
    expect(haltDue(other.state)).toBeNull();
  });

  test("is no crash of all", () => {
    const run = aRun({ jobs: 20, machines: { a: 2 }, policy: { ...POLICY, onSameCrash: "halt" } });
    const ids = Array.from({ length: 20 }, (_, index) => index + 1);
    run.tell(runStarted(), ...given("a", ...ids));
    for (const id of ids.slice(0, 6))
      run.tell(started("a", id), { ...ended("a", id, OOM), stderrTail: "" } as News);
    expect(crashDue(run.state, run.at)).toBeNull();
    run.tell(...ids.slice(0, 6).map((id) => collected("a", id, OOM)));
    expect(toRetry(run)).toHaveLength(6);
  });

  test("begins with the declared need if a user runs it again", () => {
    const run = aRunOutOf();
    run.tell(serves("a"), grown("a", 1), retried("a", 1), ...given("a", 1), ...ranOut("a", 1, 2));
    run.tell({ kind: "job-reopened", job: 1 });
    expect(run.state.jobs.get(1)?.job).not.toHaveProperty("requirement");
    expect(kindOfJob(run.state, 1)).toBe("-");
    run.tell(...given("b", 1), ...ranOut("b", 1, 3));
    expect(toRetry(run)).toEqual([1]);
  });
});

describe("the next client", () => {
  const jobs = [1, 2].map((id) => ({ id, line: id, name: `jobs.sh.${id}`, command: "true" }));
  const policy = { retries: 2, retriesFailures: false, reassignAfterMs: null };

  /** The state after the record of these events. */
  function resumed(news: readonly News[], more = POLICY as object) {
    const events = news.map((each) => ({ ...each, at: 1 }) as RunEvent);
    const state = initialState({ jobs, machines: ["a", "b"], policy: { ...policy, ...more } });
    replay(state, events.filter(isRecorded).map(recordedPart));
    return state;
  }

  const begun = [runStarted(jobs), ready("a", 1), ...given("a", 1, 2), ...ranOut("a", 1)];

  test("retries a job that ran out of memory while the last client ended", () => {
    expect([...(resumed(begun).machines.get("a")?.toRetry ?? [])]).toEqual([1]);
    expect([...(resumed(begun, {}).machines.get("a")?.toRetry ?? [])]).toEqual([]);
  });

  test("knows the larger need, before and after the results moved aside, and in a further run", () => {
    const grownOnly = resumed([...begun, serves("a"), grown("a", 1)], {});
    expect([...(grownOnly.machines.get("a")?.toRetry ?? [])]).toEqual([1]);
    expect(grownOnly.jobs.get(1)?.job.requirement).toEqual(LARGER);
    // Killed between moving the results and noting that.
    apply(grownOnly, { kind: "job-reopened", job: 1, at: 2 });
    expect(grownOnly.jobs.get(1)).toMatchObject({ fate: { kind: "waiting" }, job: { requirement: LARGER } });
    const later = resumed([...begun, grown("a", 1), retried("a", 1), ...given("a", 1), runStarted(jobs)]);
    expect(later.jobs.get(1)?.job).toMatchObject({ requirement: LARGER, isGrown: true });
    expect(later.jobs.get(1)?.lastNumber).toBe(2);
  });

  test("forgets it if the user changes what the job needs", () => {
    const other = aNeed({ memoryMb: 500 });
    const edited = jobs.map((job) => ({ ...job, requirement: other }));
    const state = resumed([...begun, grown("a", 1), retried("a", 1), runStarted(edited)]);
    expect(state.jobs.get(1)?.job).toEqual(edited[0]);
    expect(kindOfJob(state, 1)).toBe(kindOf(other));
  });
});
