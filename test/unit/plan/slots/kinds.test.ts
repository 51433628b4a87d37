import { describe, expect, test } from "vitest";
import { type Job, kindOf, type Requirement } from "../../../../src/model/job.js";
import type { MachineSpec, Slot } from "../../../../src/model/machine.js";
import { decide } from "../../../../src/plan/decide.js";
import { apply } from "../../../../src/plan/fold/apply.js";
import { initialState } from "../../../../src/plan/fold/initial-state.js";
import { isOver } from "../../../../src/plan/remaining.js";
import type { RunState } from "../../../../src/plan/run-state.js";
import { kindsOf, mustKnowCpuUse, planKinds } from "../../../../src/plan/slots/kinds.js";
import { takeStock } from "../../../../src/plan/stock.js";
import { aCapacity, aCardClaim, aClaim, aGpuNeed, aNeed, aSpec, gpus } from "../a-machine.js";

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

const cardsOf = (slots: readonly Slot[], requirement?: Requirement) =>
  slots
    .filter((slot) => kindOf(slot.requirement) === kindOf(requirement))
    .map((slot) => slot.gpus.map(({ index }) => index).join());

describe("slots for several kinds", () => {
  test("each kind has the slots it would have alone, one after the other", () => {
    const { slots, short } = plan([undefined, BIG, undefined, BIG]);
    expect(slots.map(({ index }) => index)).toEqual([0, 1, 2, 3, 4]);
    expect(cardsOf(slots)).toEqual(["0", "1", "2"]);
    expect(cardsOf(slots, BIG)).toEqual(["1", "2"]);
    expect(short).toEqual([]);
  });

  test("they know the room of all of them together", () => {
    const claims = [
      aClaim({ cpus: 1, residentMb: 1, cards: [aCardClaim({ uuid: "GPU-1", share: 0.2, memoryMb: 1000 })] }),
    ];
    const kinds = kindsOf([aJob(1), aJob(2, NO_GPU)]);
    const requirement = { ...SMALL, gpu: aGpuNeed({ isReserved: false }) };
    const { slots } = planKinds({
      spec: aSpec({ maxJobs: 4 }),
      capacity: { ...CARDS, claims },
      requirement,
      kinds,
    });
    expect(slots[0]?.room).toEqual({ cpus: 6, jobs: 3, cards: [{ memoryMb: 4000, utilization: 1.2 }] });
    expect(slots.find(({ gpus }) => gpus[0]?.index === 1)?.room?.cards).toEqual([
      { memoryMb: 23_000, utilization: 1 },
    ]);
    expect(slots.at(-1)?.room?.cards).toEqual([]);
  });

  test("with one kind for all, slots have no shared room", () => {
    expect(plan([undefined, undefined]).slots.every(({ room }) => room === undefined)).toBe(true);
  });

  test("a kind without room is listed, the others have their slots", () => {
    const huge = aNeed({ gpu: aGpuNeed({ memoryMb: 90_000 }) });
    const { slots, short } = plan([undefined, huge]);
    expect(cardsOf(slots)).toEqual(["0", "1", "2"]);
    expect(short).toMatchObject([{ kind: kindOf(huge), requirement: huge, plan: { slots: [] } }]);
  });

  test("the same cards are kept for people for all kinds", () => {
    const { slots } = plan([undefined, BIG], { keepFree: { memoryMb: 0, cpus: 0, gpus: 1 } });
    const used = new Set(slots.flatMap((slot) => slot.gpus.map(({ index }) => index)));
    expect(used.size).toBe(2);
  });

  test("slots of an earlier client stay, and new ones are added", () => {
    const past = plan([undefined]).slots.slice(0, 1);
    const { slots } = plan([undefined, BIG], {}, [...past]);
    expect(cardsOf(slots)).toEqual(["0"]);
    expect(cardsOf(slots, BIG)).toEqual(["1", "2"]);
    expect(slots[0]?.room).toBeDefined();
  });
});

/** The batch's own kind is "-". */
function slotsFor(...requirements: (Requirement | undefined)[]): Slot[] {
  return requirements.map((requirement, index) => ({ index, gpus: [], ...(requirement && { requirement }) }));
}

function aRunOf(jobs: Job[], machines: Record<string, Slot[]>): RunState {
  const policy = { retries: 2, retriesFailures: false, reassignAfterMs: 600_000 };
  const state = initialState({ jobs, machines: Object.keys(machines), policy });
  for (const connect of decided(state).verbs) {
    apply(state, { kind: "verb-begun", decision: connect, at: 0 });
    const slots = machines[connect.machine] ?? [];
    apply(state, { kind: "machine-ready", machine: connect.machine, capacity: CARDS, slots, at: 0 });
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
