import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { TrackedJob } from "../../../src/model/batch-state.js";
import type { News, RunEvent } from "../../../src/model/event.js";
import type { Outcome } from "../../../src/model/job.js";
import { isRecorded, recordedPart } from "../../../src/model/recorded.js";
import { crashDue } from "../../../src/plan/crashes.js";
import { apply } from "../../../src/plan/fold/apply.js";
import { drop } from "../../../src/plan/fold/attempts.js";
import { initialState } from "../../../src/plan/fold/initial-state.js";
import { replay } from "../../../src/plan/fold/replay.js";
import {
  type ARun,
  aRun,
  collected,
  ended,
  FAILURE,
  given,
  interrupted,
  LOST,
  type RunFacts,
  runStarted,
  SUCCESS,
  started,
  takenBack,
} from "./a-run.js";

const TAIL = "Traceback:\nKeyError: 'lr'\n";
const HALTS = { onSameCrash: "halt" } as const;

interface CrashFacts {
  readonly outcome?: Outcome;
  readonly tail?: string | null;
  readonly durationMs?: number;
}

/** Starts, and ends with a crash unless the facts differ; `tail` null: the machine did not answer. */
function crashed(machine: string, job: number, facts: CrashFacts = {}): News[] {
  const { outcome = FAILURE, tail = TAIL, durationMs = 800 } = facts;
  const end = { ...ended(machine, job, outcome), durationMs, ...(tail !== null && { stderrTail: tail }) };
  return [started(machine, job), end as News];
}

const succeeds = (machine: string, job: number): News[] => [
  started(machine, job),
  ended(machine, job, SUCCESS),
];

/** Jobs 1 to 20, of which each machine has ten. */
function aBusyRun(facts: Partial<RunFacts> = {}): ARun {
  const run = aRun({ jobs: 20, machines: { a: 2, b: 2 }, policy: HALTS, ...facts });
  run.tell(runStarted());
  const names = [...run.state.machines.keys()];
  for (const [index, name] of names.entries())
    run.tell(...given(name, ...Array.from({ length: 10 }, (_, n) => index * 10 + n + 1)));
  return run;
}

/** As in the loop: emits the event if it is due. */
function due(run: ARun): News | null {
  const news = crashDue(run.state, run.at);
  if (news !== null) run.tell(news);
  return news;
}

const FIRST = { outcome: FAILURE, stderrTail: TAIL };

describe("the same crash everywhere", () => {
  test("as many as there are slots: nothing new starts", () => {
    const run = aBusyRun();
    run.tell(...crashed("a", 1), ...crashed("b", 11), ...crashed("a", 2));
    expect(due(run)).toBeNull();
    run.tell(...crashed("b", 12));
    expect(due(run)).toEqual({ kind: "same-crash", jobs: [1, 11, 2, 12], ...FIRST, action: "halt" });
    expect(run.state.interrupted).toBe("drain");
    expect(run.state.halting.isForCrash).toBe(true);
    expect(run.decisions("take-back")).toHaveLength(2);
    expect(due(run)).toBeNull();
  });

  test("on a terminal: the batch pauses, continues, and is not paused again", () => {
    const run = aBusyRun({ policy: { onSameCrash: "pause" } });
    run.tell(...crashed("a", 1), ...crashed("b", 11), ...crashed("a", 2), ...crashed("b", 12));
    expect(due(run)).toMatchObject({ action: "pause" });
    expect(run.state.isPaused).toBe(true);
    run.tell({ kind: "continued" }, ...crashed("a", 3), ...crashed("b", 13));
    expect(run.state.isPaused).toBe(false);
    expect(due(run)).toBeNull();
  });

  test("with one slot: three", () => {
    const run = aBusyRun({ jobs: 10, machines: { a: 1 } });
    run.tell(...crashed("a", 1), ...crashed("a", 2));
    expect(due(run)).toBeNull();
    run.tell(...crashed("a", 3));
    expect(due(run)).toMatchObject({ kind: "same-crash", jobs: [1, 2, 3] });
  });

  test.each<[string, News[]]>([
    ["a success among the first", succeeds("a", 2)],
    ["another line", crashed("a", 2, { tail: "another" })],
    ["another code", crashed("a", 2, { outcome: { kind: "exited", code: 2 } })],
    ["a job that took longer", crashed("a", 2, { durationMs: 10_001 })],
    ["a job that ran out of time", crashed("a", 2, { outcome: { kind: "timed-out" } })],
    ["output that is unknown", crashed("a", 2, { tail: null })],
  ])("not after %s, also later", (_, other) => {
    const run = aBusyRun({ jobs: 10, machines: { a: 1 } });
    run.tell(...crashed("a", 1), ...other);
    for (const job of [3, 4, 5, 6]) run.tell(...crashed("a", job));
    expect(due(run)).toBeNull();
  });

  test("jobs that were stopped or lost neither count nor matter", () => {
    const run = aBusyRun({ jobs: 10, machines: { a: 1 } });
    run.tell(...crashed("a", 1), ...crashed("a", 2, { outcome: { kind: "stopped" } }));
    run.tell(...crashed("a", 3, { outcome: LOST }), ...crashed("a", 4));
    expect(due(run)).toBeNull();
    run.tell(...crashed("a", 5));
    expect(due(run)).toMatchObject({ jobs: [1, 4, 5] });
  });

  test("not if nothing is left to hold back", () => {
    const run = aRun({ jobs: 3, machines: { a: 1 }, policy: HALTS });
    run.tell(runStarted(), ...given("a", 1, 2, 3));
    for (const job of [1, 2, 3]) run.tell(...crashed("a", job));
    expect(due(run)).toBeNull();
  });

  test("not if no machine can ever run what is left", () => {
    const run = aRun({ jobs: 4, machines: { a: 1 }, policy: HALTS });
    run.tell(runStarted(), ...given("a", 1, 2, 3));
    drop(run.state, run.state.jobs.get(4) as TrackedJob);
    run.tell({ kind: "jobs-left-out", jobs: [4], reasons: [] });
    for (const job of [1, 2, 3]) run.tell(...crashed("a", job));
    expect(due(run)).toBeNull();
  });

  test("jobs that arrive after the crashes begin", () => {
    const run = aRun({ jobs: 3, machines: { a: 1 }, policy: HALTS });
    run.tell(runStarted(), ...given("a", 1, 2, 3));
    for (const job of [1, 2, 3]) run.tell(...crashed("a", job));
    const added = { id: 4, line: 4, name: "jobs.sh.4", command: "true" };
    run.tell({ kind: "jobs-added", jobs: [added], position: null });
    expect(due(run)).toBeNull();
  });

  test("jobs that arrived before the crashes are held back", () => {
    const run = aRun({ jobs: 3, machines: { a: 1 }, policy: HALTS });
    run.tell(runStarted(), ...given("a", 1, 2, 3), ...crashed("a", 1));
    const added = { id: 4, line: 4, name: "jobs.sh.4", command: "true" };
    run.tell({ kind: "jobs-added", jobs: [added], position: null }, ...crashed("a", 2), ...crashed("a", 3));
    expect(due(run)).toMatchObject({ jobs: [1, 2, 3] });
  });

  test("not without the policy, and not while the run ends anyway", () => {
    const without = aBusyRun({ jobs: 10, machines: { a: 1 }, policy: {} });
    const ending = aBusyRun({ jobs: 10, machines: { a: 1 } });
    ending.tell(interrupted("drain"));
    for (const run of [without, ending]) {
      for (const job of [1, 2, 3]) run.tell(...crashed("a", job));
      expect(due(run)).toBeNull();
    }
  });

  test("a user who ends the run afterwards has interrupted it", () => {
    const run = aBusyRun({ jobs: 10, machines: { a: 1 } });
    for (const job of [1, 2, 3]) run.tell(...crashed("a", job));
    due(run);
    run.tell(interrupted("stop"));
    expect(run.state.halting.isForCrash).toBe(false);
  });

  test("the next run counts anew", () => {
    const run = aBusyRun({ jobs: 10, machines: { a: 1 } });
    run.tell(...crashed("a", 1), ...crashed("a", 2), runStarted(), ...crashed("a", 3), ...crashed("a", 4));
    expect(due(run)).toBeNull();
    run.tell(...crashed("a", 5));
    expect(due(run)).toMatchObject({ jobs: [3, 4, 5] });
  });
});

describe("crashes on one machine", () => {
  test("another machine succeeds: it is set aside, and its jobs are retried elsewhere", () => {
    const run = aBusyRun({ policy: { ...HALTS, retries: 0 } });
    run.tell(...succeeds("b", 11), ...crashed("a", 1), ...crashed("a", 2), ...crashed("a", 3));
    run.tell(collected("a", 1, FAILURE));
    expect(due(run)).toEqual({ kind: "machine-set-aside", machine: "a", jobs: [1, 2, 3], ...FIRST });
    expect(due(run)).toBeNull();
    expect(run.decisions("retry")).toEqual([{ kind: "retry", machine: "a", jobs: [1] }]);
    const [back] = run.decisions("take-back");
    expect(back).toMatchObject({ machine: "a", jobs: [4, 5, 6, 7, 8, 9, 10] });
    // Those that are not collected yet follow.
    run.tell(collected("a", 2, FAILURE), collected("a", 3, FAILURE));
    expect(run.decisions("retry")).toEqual([{ kind: "retry", machine: "a", jobs: [1, 2, 3] }]);
    run.tell({ kind: "jobs-retried", machine: "a", jobs: [1, 2, 3] }, takenBack("a", [4, 5, 6, 7, 8, 9, 10]));
    expect(run.news("jobs-assigned")).toMatchObject([{ machine: "b" }]);
    expect(run.state.jobs.get(1)?.traits.retries).toBe(0);
    // A second failure counts.
    run.tell(...given("b", 1), started("b", 1, 2), ended("b", 1, FAILURE, 2), collected("b", 1, FAILURE, 2));
    expect(run.decisions("retry")).toEqual([]);
  });

  test("jobs of another machine run for more than ten seconds", () => {
    const run = aBusyRun();
    run.at = 1000;
    run.tell(started("b", 11));
    for (const job of [1, 2, 3, 4, 5]) run.tell(...crashed("a", job));
    expect(due(run)).toBeNull();
    run.at = 11_001;
    expect(due(run)).toMatchObject({ kind: "machine-set-aside", machine: "a", jobs: [1, 2, 3, 4, 5] });
  });

  test("the jobs of the other machine crash, too: the same crash everywhere", () => {
    const run = aBusyRun();
    run.at = 1000;
    run.tell(started("b", 11));
    for (const job of [1, 2, 3, 4, 5]) run.tell(...crashed("a", job));
    expect(due(run)).toBeNull();
    run.tell(...crashed("b", 11));
    expect(due(run)).toMatchObject({ kind: "same-crash", jobs: [1, 2, 3, 4, 5, 11] });
  });

  test("another machine is about to begin: the client waits for it, but at most ten seconds", () => {
    const run = aBusyRun();
    run.at = 1000;
    for (const job of [1, 2, 3, 4, 5]) run.tell(...crashed("a", job));
    expect(due(run)).toBeNull();
    run.at = 11_001;
    expect(due(run)).toMatchObject({ kind: "same-crash", jobs: [1, 2, 3, 4, 5] });
  });

  test("jobs that begin before they are taken back run elsewhere, too, until it is opened again", () => {
    const run = aBusyRun();
    run.tell(...succeeds("b", 11), ...crashed("a", 1), ...crashed("a", 2), ...crashed("a", 3));
    due(run);
    run.tell(...crashed("a", 4), ...crashed("a", 5));
    expect(due(run)).toEqual({
      kind: "machine-set-aside",
      machine: "a",
      jobs: [4, 5],
      isMore: true,
      ...FIRST,
    });
    expect(due(run)).toBeNull();
    expect(run.state.excused).toEqual(new Set([1, 2, 3, 4, 5]));
    run.tell(...crashed("a", 6, { tail: "another" }), ...crashed("a", 7));
    expect(due(run)).toBeNull();
  });

  test.each<[string, News[]]>([
    ["two crashes", []],
    ["a success among the first three", succeeds("a", 3)],
    ["different crashes", crashed("a", 3, { tail: "another" })],
  ])("not after %s", (_, third) => {
    const run = aBusyRun();
    run.tell(...succeeds("b", 11), ...crashed("a", 1), ...crashed("a", 2), ...third);
    expect(due(run)).toBeNull();
  });

  test("not if there is no other machine to take its jobs", () => {
    const alone = aBusyRun({ jobs: 10, machines: { a: 4 } });
    const drained = aBusyRun();
    drained.tell(...succeeds("b", 11), { kind: "machine-draining", machine: "b" });
    for (const run of [alone, drained]) {
      for (const job of [1, 2, 3]) run.tell(...crashed("a", job));
      expect(due(run)).toBeNull();
    }
  });

  test("undrain opens it again", () => {
    const run = aBusyRun();
    run.tell(...succeeds("b", 11), ...crashed("a", 1), ...crashed("a", 2), ...crashed("a", 3));
    due(run);
    expect(run.state.machines.get("a")).toMatchObject({ isOpen: false, isSetAside: true });
    run.tell({ kind: "machine-opened", machine: "a" });
    expect(run.state.machines.get("a")).toMatchObject({ isOpen: true, isSetAside: false });
    run.tell(...crashed("a", 4), ...crashed("a", 5), ...crashed("a", 6));
    expect(due(run)).toBeNull();
  });

  test("its jobs do not count as failed for --halt", () => {
    const halt = { when: "soon", why: "fail", amount: 5, unit: "jobs" } as const;
    const run = aBusyRun({ policy: { ...HALTS, halt } });
    run.tell(...succeeds("b", 11), ...crashed("a", 1), ...crashed("a", 2), ...crashed("a", 3));
    expect(run.state.halting.failed).toBe(3);
    due(run);
    expect(run.state.halting.failed).toBe(0);
    expect(run.state.halting.ended).toEqual(new Set([11]));
  });
});

describe("the next client", () => {
  /** What a record has of these events. */
  const recordOf = (news: readonly News[]): RunEvent[] =>
    news
      .map((each) => ({ ...each, at: 5 }) as RunEvent)
      .filter(isRecorded)
      .map(recordedPart);

  function afterReplay(news: readonly News[]) {
    const jobs = Array.from({ length: 20 }, (_, n) => ({
      id: n + 1,
      line: n + 1,
      name: `jobs.sh.${n + 1}`,
      command: "true",
    }));
    const policy = { retries: 0, retriesFailures: false, reassignAfterMs: null, ...HALTS };
    const state = initialState({ jobs, machines: ["a", "b"], policy });
    replay(state, recordOf(news));
    return state;
  }

  const BEFORE = [
    runStarted(),
    ...given("a", 1, 2, 3, 4),
    ...given("b", 11),
    ...succeeds("b", 11),
    ...crashed("a", 1),
    ...crashed("a", 2),
    ...crashed("a", 3),
    collected("a", 1, FAILURE),
  ];
  const ASIDE: News = { kind: "machine-set-aside", machine: "a", jobs: [1, 2, 3], ...FIRST };

  test("retries the jobs of a machine that was set aside, and uses the machine again", () => {
    const state = afterReplay([...BEFORE, ASIDE]);
    expect(state.machines.get("a")).toMatchObject({ isOpen: true, isSetAside: false });
    expect([...(state.machines.get("a")?.toRetry ?? [])]).toEqual([1]);
    apply(state, { ...runStarted(), at: 6 } as RunEvent);
    apply(state, { ...collected("a", 2, FAILURE), at: 7 } as RunEvent);
    expect([...(state.machines.get("a")?.toRetry ?? [])]).toEqual([1, 2]);
    expect(crashDue(state, 8)).toBeNull();
  });

  test("has counted no retry of them", () => {
    const retried: News = { kind: "jobs-retried", machine: "a", jobs: [1], asides: {} };
    expect(afterReplay([...BEFORE, ASIDE, retried]).jobs.get(1)?.traits.retries).toBe(0);
    expect(afterReplay([...BEFORE, retried]).jobs.get(1)?.traits.retries).toBe(1);
  });

  test.each(["pause", "halt"] as const)("neither pauses nor ends because of an earlier %s", (action) => {
    const crash: News = { kind: "same-crash", jobs: [1, 2, 3], ...FIRST, action };
    const state = afterReplay([...BEFORE, crash]);
    expect([state.isPaused, state.interrupted]).toEqual([false, "no"]);
  });
});

test("property: the run halts exactly when the first ends are equal crashes, as many as slots and at least three", () => {
  const anEnd = fc.constantFrom<CrashFacts>(
    {},
    {},
    {},
    { outcome: SUCCESS },
    { tail: "other" },
    { durationMs: 20_000 },
  );
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 6 }), fc.array(anEnd, { maxLength: 9 }), (slots, ends) => {
      const run = aBusyRun({ jobs: 10, machines: { a: slots } });
      const haltedAt = ends.findIndex((facts, index) => {
        run.tell(...crashed("a", index + 1, facts));
        return due(run) !== null;
      });
      const most = Math.max(3, slots);
      const sameTail = (facts: CrashFacts) => facts.outcome === undefined && facts.durationMs === undefined;
      const first = ends.slice(0, most);
      const isMet =
        first.length === most && first.every((facts) => sameTail(facts) && facts.tail === ends[0]?.tail);
      expect(haltedAt).toBe(isMet ? most - 1 : -1);
    }),
  );
});
