import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { parseHalt } from "../../../src/cli/options/halt-option.js";
import type { News } from "../../../src/model/event.js";
import type { Outcome } from "../../../src/model/job.js";
import { succeeded } from "../../../src/model/job.js";
import { replay } from "../../../src/plan/fold/replay.js";
import { canContinue, haltDue, isHaltedWell, isMet } from "../../../src/plan/halt.js";
import type { Policy } from "../../../src/plan/run-state.js";
import { aHaltRule } from "./a-halt-rule.js";
import {
  type ARun,
  aRun,
  assigned,
  collected,
  ended,
  FAILURE,
  given,
  handedOver,
  interrupted,
  LOST,
  runStarted,
  SUCCESS,
  started,
  takenBack,
} from "./a-run.js";

/** Ten jobs on one machine. */
function aHaltingRun(halt: string, policy: Partial<Policy> = {}, jobs = 10): ARun {
  const run = aRun({ jobs, machines: { a: 2 }, policy: { halt: parseHalt(halt), ...policy } });
  run.tell(runStarted(), ...given("a", ...Array.from({ length: jobs }, (_, n) => n + 1)));
  return run;
}

/** As in the loop: emits the event if it is due. */
function halt(run: ARun): News | null {
  const due = haltDue(run.state);
  if (due !== null) run.tell(due);
  return due;
}

describe("a rule is met", () => {
  test("by the given number of failures, and reported once", () => {
    const run = aHaltingRun("soon,fail=2");
    run.tell(started("a", 1), ended("a", 1, FAILURE), started("a", 2), ended("a", 2));
    expect(halt(run)).toBeNull();
    run.tell(started("a", 3), ended("a", 3, { kind: "killed", signal: "SIGKILL" }));
    expect(halt(run)).toEqual({ kind: "halted", when: "soon", why: "fail", count: 2, rule: "soon,fail=2" });
    expect(halt(run)).toBeNull();
  });

  test("without --halt never", () => {
    const run = aHaltingRun("never");
    for (let line = 1; line <= 10; line++) run.tell(started("a", line), ended("a", line, FAILURE));
    expect(halt(run)).toBeNull();
  });

  test("not by an event that the log has twice", () => {
    const run = aHaltingRun("soon,fail=2");
    run.tell(started("a", 1), ended("a", 1, FAILURE), started("a", 1), ended("a", 1, FAILURE));
    run.tell(collected("a", 1, FAILURE));
    expect(halt(run)).toBeNull();
  });

  test("by a retried job only after its last try", () => {
    const run = aHaltingRun("soon,fail=1", { retries: 1, retriesFailures: true });
    run.tell(started("a", 1), ended("a", 1, FAILURE), collected("a", 1, FAILURE));
    expect(halt(run)).toBeNull();
    run.tell({ kind: "jobs-retried", machine: "a", jobs: [1] }, ...given("a", 1));
    run.tell(started("a", 1, 2), ended("a", 1, LOST, 2));
    expect(halt(run)).toMatchObject({ count: 1 });
  });

  test("not by jobs that ended before this run", () => {
    const before = [
      { ...assigned("a", 1, 2), at: 0 },
      { ...handedOver("a", 1, 2), at: 0 },
      { ...started("a", 1), at: 0 },
      { ...ended("a", 1, FAILURE), at: 0 },
    ];
    const run = aRun({ jobs: 3, machines: { a: 1 }, policy: { halt: parseHalt("now,fail=1") } });
    replay(run.state, before as Parameters<typeof replay>[1]);
    run.tell(runStarted(), { kind: "job-skipped", job: 3, outcome: FAILURE }, collected("a", 1, FAILURE));
    expect(halt(run)).toBeNull();
    run.tell(started("a", 2), ended("a", 2, FAILURE));
    expect(halt(run)).toMatchObject({ count: 1 });
  });

  test("by a percentage of the jobs that this run had to do", () => {
    const run = aHaltingRun("soon,fail=50%");
    for (const line of [1, 2, 3, 4]) run.tell({ kind: "job-skipped", job: line, outcome: SUCCESS });
    for (const line of [5, 6]) run.tell(started("a", line), ended("a", line, FAILURE));
    expect(halt(run)).toBeNull();
    run.tell(started("a", 7), ended("a", 7, FAILURE));
    expect(halt(run)).toMatchObject({ count: 3, rule: "soon,fail=50%" });
  });
});

const anOutcome: fc.Arbitrary<Outcome> = fc.constantFrom(SUCCESS, FAILURE, LOST);

test("property: a run halts at the same job as in a count by hand", () => {
  fc.assert(
    fc.property(aHaltRule, fc.array(anOutcome, { minLength: 1, maxLength: 30 }), (rule, outcomes) => {
      const jobs = outcomes.length;
      const run = aRun({ jobs, machines: { a: 1 }, policy: { halt: rule, retries: 0 } });
      run.tell(runStarted(), ...given("a", ...outcomes.map((_, index) => index + 1)));
      const haltedAt = outcomes.findIndex((outcome, index) => {
        run.tell(started("a", index + 1), ended("a", index + 1, outcome));
        return halt(run) !== null;
      });
      const amounts = outcomes.map((_, index) => {
        const some = outcomes.slice(0, index + 1);
        if (rule.why === "done") return some.length;
        return some.filter((outcome) => succeeded(outcome) === (rule.why === "success")).length;
      });
      const needed = rule.unit === "jobs" ? rule.amount : Math.ceil((rule.amount * jobs) / 100);
      expect(haltedAt).toBe(amounts.findIndex((amount) => amount >= needed));
    }),
  );
});

test("property: a rule that is met stays met, and a smaller rule is met no later", () => {
  const amounts = fc.record({ rule: aHaltRule, count: fc.nat(200), more: fc.nat(50), jobs: fc.nat(300) });
  fc.assert(
    fc.property(amounts, ({ rule, count, more, jobs }) => {
      if (!isMet(rule, count, jobs)) return;
      expect(isMet(rule, count + more, jobs)).toBe(true);
      expect(isMet({ ...rule, amount: Math.max(1, rule.amount - more) }, count, jobs)).toBe(true);
    }),
  );
});

describe("halting", () => {
  test("soon: jobs that have not begun are taken back, running ones continue", () => {
    const run = aHaltingRun("soon,fail=1", {}, 4);
    run.tell(started("a", 1), started("a", 2), ended("a", 1, FAILURE));
    halt(run);
    expect(run.decisions("take-back")).toEqual([{ kind: "take-back", machine: "a", jobs: [3, 4] }]);
    expect(run.decisions("stop")).toEqual([]);
    run.tell(takenBack("a", [3, 4]));
    expect(run.job(3)).toEqual({ kind: "dropped" });
  });

  test("now: running jobs are stopped", () => {
    const run = aHaltingRun("now,fail=1", {}, 4);
    run.tell(started("a", 1), started("a", 2), ended("a", 1, FAILURE));
    halt(run);
    expect(run.decisions("stop")).toEqual([{ kind: "stop", machine: "a", jobs: [2] }]);
  });

  test("jobs on no machine are not sent", () => {
    const run = aRun({ jobs: 3, machines: { a: 1 }, policy: { halt: parseHalt("soon,fail=1") } });
    run.tell(runStarted(), ...given("a", 1), assigned("a", 2, 3), started("a", 1), ended("a", 1, FAILURE));
    halt(run);
    expect(run.decisions("hand-over")).toEqual([]);
    expect(run.news("jobs-taken-back")).toEqual([takenBack("a", [2, 3])]);
  });

  test("Ctrl-C does not continue jobs that `now` has stopped", () => {
    const run = aHaltingRun("now,fail=1", {}, 2);
    run.tell(started("a", 1), started("a", 2), ended("a", 1, FAILURE));
    halt(run);
    run.tell(interrupted("drain"));
    expect(run.state.interrupted).toBe("stop");
  });
});

describe("did the run do what its rule asked for?", () => {
  /** Line 1 ended this way; line 2 was running then, line 3 waiting. */
  function haltedRun(rule: string, first: Outcome, second: Outcome): ARun {
    const run = aHaltingRun(rule, {}, 3);
    run.tell(started("a", 1), started("a", 2), ended("a", 1, first), collected("a", 1, first));
    halt(run);
    run.tell(takenBack("a", [3]), ended("a", 2, second), collected("a", 2, second));
    return run;
  }

  test.each([
    ["soon,success=1", SUCCESS, FAILURE, true],
    ["now,success=1", SUCCESS, { kind: "stopped" }, true],
    ["soon,done=1", SUCCESS, SUCCESS, true],
    ["now,done=1", SUCCESS, { kind: "stopped" }, true],
    ["soon,done=1", SUCCESS, FAILURE, false],
    ["soon,done=1", FAILURE, SUCCESS, false],
    ["soon,fail=1", FAILURE, SUCCESS, false],
  ] satisfies [string, Outcome, Outcome, boolean][])("%s after %j and %j", (rule, first, second, isWell) => {
    expect(isHaltedWell(haltedRun(rule, first, second).state)).toBe(isWell);
  });

  test("not if the rule was never met, and not after Ctrl-C", () => {
    expect(isHaltedWell(aHaltingRun("soon,success=1").state)).toBe(false);
    const run = haltedRun("soon,success=1", SUCCESS, SUCCESS);
    run.tell(interrupted("drain"));
    expect(isHaltedWell(run.state)).toBe(false);
  });
});

describe("a drain that is undone", () => {
  test("jobs that were taken back are handed out again in order, and the run is as before", () => {
    const run = aRun({ jobs: 4, machines: { a: 1 } });
    run.tell(...given("a", 1, 2, 3, 4), started("a", 1), interrupted("drain"), takenBack("a", [4, 2, 3], []));
    expect(run.job(2)).toEqual({ kind: "dropped" });
    expect(canContinue(run.state)).toBe(true);
    run.tell({ kind: "continued", from: "drain" });
    expect(run.news("jobs-assigned")).toMatchObject([{ machine: "a", jobs: [2, 3, 4] }]);
    expect(run.state.interrupted).toBe("no");
  });

  test("jobs that may still arrive are awaited again", () => {
    const run = aRun({ jobs: 1, machines: { a: 1 } });
    run.state.isMoreToCome = true;
    run.tell(...given("a", 1), interrupted("drain"), takenBack("a", [1], []));
    run.tell({ kind: "continued", from: "drain" }, ...given("a", 1), started("a", 1), ended("a", 1));
    run.tell(collected("a", 1));
    expect(run.isOver()).toBe(false);
  });

  test("jobs that are being stopped stay stopped", () => {
    const run = aRun({ jobs: 2, machines: { a: 1 } });
    run.tell(...given("a", 1, 2), interrupted("stop"), { kind: "continued", from: "drain" });
    expect(canContinue(run.state)).toBe(false);
    expect(run.state.interrupted).toBe("stop");
  });
});

describe("a pause", () => {
  test("jobs that have not begun are taken back, and handed out again in order", () => {
    const run = aHaltingRun("never", {}, 5);
    run.tell(started("a", 1), { kind: "paused", pid: 1 });
    expect(run.begin()).toEqual([{ kind: "take-back", machine: "a", jobs: [2, 3, 4, 5] }]);
    run.tell(takenBack("a", [5, 3, 4], [2]));
    run.settle({ kind: "take-back", machine: "a", jobs: [] });
    expect(run.decisions(), "2 had been begun").toEqual([]);
    run.tell(started("a", 2), ended("a", 1), collected("a", 1));
    expect(run.decisions().map(({ kind }) => kind)).toEqual(["free"]);
    run.tell({ kind: "continued" });
    expect(run.news("jobs-assigned")).toMatchObject([{ machine: "a", jobs: [3, 4, 5] }]);
  });

  test("with nothing running the run is not over", () => {
    const run = aRun({ jobs: 1, machines: { a: 1 } });
    run.tell({ kind: "paused", pid: 1 });
    expect(run.decisions()).toEqual([]);
    expect(run.isOver()).toBe(false);
  });

  test("jobs that have arrived during a hand-over are taken back at once", () => {
    const run = aRun({ jobs: 3, machines: { a: 1 } });
    run.tell(...given("a", 1, 2), assigned("a", 3), started("a", 1));
    expect(run.begin()).toEqual([{ kind: "hand-over", machine: "a", jobs: [3] }]);
    run.tell({ kind: "paused", pid: 1 });
    expect(run.decisions()).toEqual([{ kind: "take-back", machine: "a", jobs: [2] }]);
  });

  test("Ctrl-C while paused: nothing more begins", () => {
    const run = aRun({ jobs: 2, machines: { a: 1 } });
    run.tell({ kind: "paused", pid: 1 }, interrupted("drain"), { kind: "continued" });
    expect(run.job(1)).toEqual({ kind: "dropped" });
    expect(run.news("jobs-assigned")).toEqual([]);
  });
});
