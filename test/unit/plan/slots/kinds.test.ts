import { describe, expect, test } from "vitest";
import { type Job, kindOf, type Requirement } from "../../../../src/model/job.js";
import type { MachineSpec, Slot } from "../../../../src/model/machine.js";
import { decide } from "../../../../src/plan/decide.js";
import { apply } from "../../../../src/plan/fold/apply.js";
import { initialState } from "../../../../src/plan/fold/initial-state.js";
import { isOver } from "../../../../src/plan/remaining.js";
import type { RunState } from "../../../../src/plan/run-state.js";
import { kindsOf, mustKnowCpuUse, planKinds } from "../../../../src/plan/slots/kinds.js";
import { whyNever } from "../../../../src/plan/slots/why-never.js";
import { takeStock } from "../../../../src/plan/stock.js";
import { aCapacity, aGpuNeed, aNeed, aSpec, gpus } from "../a-machine.js";

const SMALL = aNeed({ gpu: aGpuNeed() });
const BIG = aNeed({ gpu: aGpuNeed({ memoryMb: 20_000 }) });
const NO_GPU = aNeed({ memoryMb: 100 });
const CARDS = aCapacity({ gpus: gpus({ memoryFreeMb: 4000 }, {}, {}), cpus: { total: 8, free: 4 } });

function aJob(line: number, requirement?: Requirement): Job {
  return { id: line, line, name: `jobs.sh.${line}`, command: "true", ...(requirement && { requirement }) };
}

function plan(requirements: (Requirement | undefined)[], spec: Partial<MachineSpec> = {}, past?: Slot[]) {
  const kinds = kindsOf(requirements.map((requirement, index) => aJob(index + 1, requirement)));
  return planKinds({
    spec: aSpec(spec),
    capacity: CARDS,
    requirement: SMALL,
    kinds,
    ...(past && { past }),
  });
}

const FULL = aCapacity({
  gpus: gpus({ memoryFreeMb: 100 }),
  cpus: { total: 8, free: 0 },
  memory: { totalMb: 64_000, freeMb: 10 },
});

test("a machine with slots of an earlier client keeps them, even if it can begin no job any more", () => {
  const past: Slot[] = [{ index: 0, gpus: [] }];
  const { slots, serves } = plan([aNeed({ memoryMb: 999_999_999 })], {}, past);
  expect([slots, serves]).toEqual([past, []]);
});

describe("the kinds that a machine serves", () => {
  test("are those that it could run if nothing else used it", () => {
    const huge = aNeed({ gpu: aGpuNeed({ memoryMb: 90_000 }) });
    const { slots, serves, short } = plan([undefined, BIG, huge]);
    expect(serves).toEqual(["-", kindOf(BIG)]);
    expect(short).toMatchObject([{ kind: kindOf(huge), requirement: huge, plan: { slots: [] } }]);
    expect(slots.map(({ index, gpus }) => [index, ...gpus.map((gpu) => gpu.index)])).toEqual([
      [0, 0],
      [1, 1],
      [2, 2],
    ]);
  });

  test("do not tell slots apart: every slot takes any job", () => {
    for (const slot of plan([undefined, BIG]).slots)
      expect(Object.keys(slot).sort()).toEqual(["gpus", "index"]);
  });

  test("include what a full machine could run later: it has one slot", () => {
    const question = { spec: aSpec(), capacity: FULL, requirement: SMALL, kinds: kindsOf([aJob(1)]) };
    const { slots, serves } = planKinds(question);
    expect(serves).toEqual(["-"]);
    expect(slots).toMatchObject([{ index: 0, gpus: [{ index: 0 }] }]);
  });

  test("are none if it can never run any job, and it has no slot then", () => {
    const huge = aNeed({ memoryMb: 1_000_000 });
    const { slots, serves, short } = plan([huge]);
    expect([slots, serves]).toEqual([[], []]);
    expect(whyNever(CARDS, short)).toMatch(
      /^memory: a job needs 1000000 MB, .*; would fit: at most .* of memory$/,
    );
    expect(short.map(({ plan: { shortages } }) => shortages.map(({ kind }) => kind))).toEqual([["memory"]]);
  });

  test("depend on the resources of the machine file", () => {
    const need = (amount: number) => aNeed({ resources: { licence: [amount] } });
    const resources = { licence: { "0": 1, "1": 1 } };
    expect(plan([need(2)], { resources }).serves).toHaveLength(1);
    expect(plan([need(3)], { resources }).serves).toHaveLength(0);
    expect(plan([need(1)]).serves).toHaveLength(0);
  });

  test("of a machine with slots of an earlier client are judged as well, and the slots stay", () => {
    const past = plan([undefined]).slots.slice(0, 1);
    const { slots, serves } = plan([undefined, BIG], {}, [...past]);
    expect(slots).toEqual(past);
    expect(serves).toEqual(["-", kindOf(BIG)]);
  });
});

/** The batch's own kind is "-". */
function slotsFor(...requirements: (Requirement | undefined)[]): Slot[] {
  return requirements.map((requirement, index) => ({ index, gpus: [], ...(requirement && { requirement }) }));
}

function aRunOf(
  jobs: Job[],
  machines: Record<string, Slot[]>,
  kinds: Record<string, string[]> = {},
): RunState {
  const policy = { retries: 2, retriesFailures: false, reassignAfterMs: 600_000 };
  const names = [...Object.keys(machines), ...Object.keys(kinds)];
  const state = initialState({ jobs, machines: names, policy });
  for (const connect of decided(state).verbs) {
    apply(state, { kind: "verb-begun", decision: connect, at: 0 });
    const { machine } = connect;
    const slots = machines[machine] ?? slotsFor(undefined);
    const served = kinds[machine];
    apply(state, {
      kind: "machine-ready",
      machine,
      capacity: CARDS,
      slots,
      ...(served && { kinds: served }),
      at: 0,
    });
    apply(state, { kind: "verb-ended", decision: connect, at: 0 });
  }
  return state;
}

function decided(state: RunState) {
  takeStock(state.stock, 0);
  return decide(state, 0);
}

function dealt(state: RunState): Record<string, readonly number[]> {
  return Object.fromEntries(
    decided(state).news.flatMap((each) => (each.kind === "jobs-assigned" ? [[each.machine, each.jobs]] : [])),
  );
}

describe("dealing", () => {
  test("a job goes only to a machine with a slot of its kind", () => {
    const jobs = [1, 2, 3, 4, 5, 6].map((line) => aJob(line, line % 2 === 0 ? BIG : undefined));
    const state = aRunOf(jobs, { a: slotsFor(undefined, undefined), b: slotsFor(undefined, BIG) });
    const hands = dealt(state);
    expect(hands.a?.every((line) => line % 2 === 1)).toBe(true);
    expect(hands.b).toEqual(expect.arrayContaining([2, 4, 6]));
    expect([...(hands.a ?? []), ...(hands.b ?? [])].sort()).toEqual([1, 2, 3, 4, 5, 6]);
  });

  test("once every machine has answered, jobs without any slot are dropped", () => {
    const state = aRunOf([aJob(1), aJob(2, BIG)], { a: slotsFor(undefined) });
    expect(state.jobs.get(2)?.fate).toEqual({ kind: "dropped" });
    expect(dealt(state)).toEqual({ a: [1] });
    expect(isOver(state, 0)).toBe(false);
  });

  test("a machine is dealt the kinds that it names, whatever its slots are", () => {
    const state = aRunOf([aJob(1), aJob(2, BIG)], {}, { a: ["-", kindOf(BIG)] });
    expect(dealt(state)).toEqual({ a: [1, 2] });
  });

  test("jobs of a new kind stay once a machine serves it, and are dropped otherwise", () => {
    const state = aRunOf([aJob(1)], {}, { a: ["-"] });
    apply(state, { kind: "jobs-added", jobs: [aJob(2, BIG)], position: null, at: 0 });
    expect(state.jobs.get(2)?.fate).toEqual({ kind: "dropped" });
    apply(state, { kind: "machine-serves", machine: "a", kinds: [kindOf(NO_GPU)], at: 0 });
    apply(state, { kind: "jobs-added", jobs: [aJob(3, NO_GPU)], position: null, at: 0 });
    expect(dealt(state)).toEqual({ a: [1, 3] });
  });

  test("while a machine has not answered, they are kept", () => {
    const policy = { retries: 0, retriesFailures: false, reassignAfterMs: null };
    const state = initialState({ jobs: [aJob(1, BIG)], machines: ["a", "b"], policy });
    for (const connect of decided(state).verbs)
      apply(state, { kind: "verb-begun", decision: connect, at: 0 });
    apply(state, { kind: "machine-ready", machine: "a", capacity: CARDS, slots: slotsFor(undefined), at: 0 });
    expect(state.jobs.get(1)?.fate).toEqual({ kind: "waiting" });
    apply(state, { kind: "machine-failed", machine: "b", reason: "", hint: null, at: 0 });
    expect(state.jobs.get(1)?.fate).toEqual({ kind: "dropped" });
  });

  test("a machine without work does not get jobs that it has no slot for", () => {
    const jobs = Array.from({ length: 8 }, (_, index) => aJob(index + 1, BIG));
    const state = aRunOf(jobs, { a: slotsFor(BIG), b: slotsFor(undefined) });
    const ids = jobs.map(({ id }) => id);
    apply(state, { kind: "jobs-assigned", machine: "a", jobs: ids, at: 0 });
    apply(state, { kind: "jobs-handed-over", machine: "a", jobs: ids, at: 0 });
    expect(decided(state)).toEqual({ news: [], verbs: [] });
  });

  test("a drained machine keeps the jobs that no other machine could take", () => {
    const state = aRunOf([aJob(1), aJob(2, BIG)], { a: slotsFor(undefined, BIG), b: slotsFor(undefined) });
    apply(state, { kind: "jobs-assigned", machine: "a", jobs: [1, 2], at: 0 });
    apply(state, { kind: "jobs-handed-over", machine: "a", jobs: [1, 2], at: 0 });
    apply(state, { kind: "machine-draining", machine: "a", at: 0 });
    expect(decided(state).verbs).toEqual([{ kind: "take-back", machine: "a", jobs: [1] }]);
  });
});

describe("the load of the cores", () => {
  const asks = (cpus: number, mostJobs: number, spec: Partial<MachineSpec> = {}, own?: Requirement) =>
    mustKnowCpuUse(
      { spec: aSpec(spec), requirement: aNeed({ cpus }), kinds: kindsOf([aJob(1), aJob(2, own)]) },
      mostJobs,
    );

  test("does not matter to jobs that fit at any load", () => {
    expect(asks(1, 2)).toBe(false);
    expect(asks(0.1, Number.POSITIVE_INFINITY, { maxJobs: 20 })).toBe(false);
    const room = aCapacity({ cpus: { total: 8, free: 0 } });
    const question = { spec: aSpec(), capacity: room, requirement: aNeed({ cpus: 1, memoryMb: 1 }) };
    expect(planKinds({ ...question, kinds: kindsOf([aJob(1)]) }).slots).toHaveLength(2);
  });

  test.each<[string, boolean]>([
    ["more jobs than may overload them", asks(1, 3)],
    ["an unknown number of jobs", asks(1, Number.POSITIVE_INFINITY)],
    ["cores that are kept for people", asks(1, 2, { keepFree: { memoryMb: 0, cpus: 1, gpus: 0 } })],
    ["one job that needs more than the others", asks(1, 2, {}, aNeed({ cpus: 2 }))],
  ])("matters to %s", (_, answer) => {
    expect(answer).toBe(true);
  });
});
