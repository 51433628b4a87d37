import { describe, expect, test } from "vitest";
import type { BatchHere } from "../../../../src/batch/find/batches-here.js";
import { explainAllWaiting, explainJobs } from "../../../../src/batch/why/explain-batch.js";
import { isDrained } from "../../../../src/batch/why/measure-machine.js";
import type { RunEvent } from "../../../../src/model/event.js";
import type { Job } from "../../../../src/model/job.js";
import { apply } from "../../../../src/plan/fold/apply.js";
import { initialState } from "../../../../src/plan/fold/initial-state.js";
import type { MeasuredMachine } from "../../../../src/plan/why/explain-waiting.js";
import { parseSpoolEvent } from "../../../../src/remote/spool/spool-event.js";
import { aCapacity, aCardClaim, aClaim, aGpuNeed, aNeed, aSpec, gpus } from "../../plan/a-machine.js";
import { assigned, SETTINGS, SUCCESS, someJobs } from "../../report/builders.js";

const POLICY = { retries: 0, retriesFailures: false, reassignAfterMs: null };
const LARGE = aNeed({ cpus: 3, memoryMb: 1 });
const NOW = 100_000;

function aBatch(jobs: readonly Job[], ...events: RunEvent[]): BatchHere {
  const state = initialState({ jobs, machines: ["one.yaml"], policy: POLICY });
  for (const event of events) apply(state, event);
  const settings = { ...SETTINGS, requirement: aNeed({ cpus: 1, memoryMb: 1 }) };
  const about = { stem: "batch.sh", batch: "batch.sh-1", script: "batch.sh", dir: "/", isFollowed: false };
  const maps = { machines: new Map(), slots: new Map(), kept: new Map(), stuck: new Map() };
  return { ...about, ...maps, settings, jobs, state, holder: null };
}

/** Two cores, of which jobs of the batch claim some. */
function machine(...labels: string[]): MeasuredMachine {
  const claims = labels.map((job) => aClaim({ batch: "batch.sh-1", job, cpus: 2 }));
  const capacity = aCapacity({ cpus: { total: 2, free: 2 }, claims });
  return { kind: "measured", spec: aSpec({ name: "one.yaml" }), capacity, earlier: [] };
}

const started = (job: number, startedAt: number): RunEvent => ({
  kind: "job-started",
  at: 0,
  machine: "one.yaml",
  job,
  attempt: 1,
  slot: 0,
  startedAt,
});
const ended = (job: number, durationMs: number): RunEvent => ({
  kind: "job-ended",
  at: 0,
  machine: "one.yaml",
  job,
  attempt: 1,
  outcome: SUCCESS,
  durationMs,
});

function explaining(here: BatchHere, ...machines: MeasuredMachine[]) {
  return { here, machines, pausedPid: null, lastWordsOf: () => "", now: NOW };
}

test("waiting jobs of the same need are one group, in the order in which they start", () => {
  const jobs = someJobs(5).map((job) => ({
    ...job,
    ...(job.id === 2 && { requirement: LARGE, priority: 10 }),
    ...(job.id === 4 && { requirement: LARGE }),
  }));
  const why = explainAllWaiting(explaining(aBatch(jobs), machine("9", "8")));
  expect(why.jobs.map(({ job, ...rest }) => [job.id, "others" in rest ? rest.others : null])).toEqual([
    [2, 1],
    [1, 2],
  ]);
  expect(why).toMatchObject({ hold: { kind: "no-client", command: "sshoal attach batch.sh" }, more: 0 });
});

test("no client is asked for if no machine can ever run the jobs", () => {
  const never = aNeed({ cpus: 5, memoryMb: 1 });
  const jobs = someJobs(2).map((job) => ({ ...job, ...(job.id === 1 && { requirement: never }) }));
  const here = aBatch(jobs);
  expect(explainJobs(explaining(here, machine()), jobs.slice(0, 1)).hold).toBeNull();
  expect(explainAllWaiting(explaining(here, machine())).hold).toMatchObject({ kind: "no-client" });
  const gone: MeasuredMachine = {
    kind: "unreachable",
    machine: "two.yaml",
    reason: "refused",
    sinceMs: null,
  };
  expect(explainJobs(explaining(here, machine(), gone), jobs.slice(0, 1)).hold).toMatchObject({
    kind: "no-client",
  });
});

test("more groups than fill a screen are counted", () => {
  const jobs = someJobs(9).map((job) => ({ ...job, requirement: aNeed({ memoryMb: job.id }) }));
  const why = explainAllWaiting(explaining(aBatch(jobs), machine()));
  expect([why.jobs.length, why.more]).toEqual([4, 5]);
});

describe("the next end", () => {
  const events = [
    assigned("one.yaml", [1, 2, 3, 4, 5, 6]),
    ...[1, 2, 3].flatMap((id) => [started(id, 0), ended(id, [50_000, 70_000, 10_000][id - 1] ?? 0)]),
    started(4, NOW - 20_000),
  ];
  const whyOf = (here: BatchHere, id: number) => {
    const [why] = explainJobs(
      explaining(here, machine("4", "x")),
      here.jobs.filter((job) => job.id === id),
    ).jobs;
    return why;
  };

  test("is known from the middle duration of jobs that have ended", () => {
    expect(whyOf(aBatch(someJobs(6), ...events), 5)).toMatchObject({
      kind: "waits",
      next: { machine: "one.yaml", job: "4", inMs: 30_000 },
    });
  });

  test("names a job by its label, which machines do not know", () => {
    const jobs = someJobs(6).map((job) => (job.id === 4 ? { ...job, name: "b.train", label: "train" } : job));
    const shortages = [{ kind: "gpus", refused: [{ why: { kind: "taken", job: "train" } }] }];
    const requirement = aNeed({ gpu: aGpuNeed() });
    const onCard = aBatch(
      jobs.map((job) => (job.id === 5 ? { ...job, requirement } : job)),
      ...events,
    );
    const claims = [aClaim({ batch: "batch.sh-1", job: "4", cards: [aCardClaim({ amount: 1 })] })];
    const capacity = aCapacity({ gpus: gpus({}), claims });
    const busy = { ...machine(), capacity } as MeasuredMachine;
    const [why] = explainJobs(explaining(onCard, busy), onCard.jobs.slice(4, 5)).jobs;
    expect(why).toMatchObject({ kind: "waits", machines: [{ shortages }] });
    expect(whyOf(aBatch(jobs, ...events), 5)).toMatchObject({ next: { job: "train", inMs: 30_000 } });
  });

  test("is not known behind another waiting job, nor after two ends", () => {
    expect(whyOf(aBatch(someJobs(6), ...events), 6)).toMatchObject({ kind: "waits", next: null });
    const few = events.filter((event) => !("job" in event && event.job === 3));
    expect(whyOf(aBatch(someJobs(6), ...few), 5)).toMatchObject({ kind: "waits", next: null });
  });
});

test("a machine is drained as long as its last drain is not over, in any order of its logs", () => {
  const logOf = (...lines: string[]) => lines.flatMap((line) => parseSpoolEvent(line) ?? []);
  expect(isDrained(logOf())).toBe(false);
  expect(isDrained(logOf("draining 1"))).toBe(true);
  expect(isDrained(logOf("draining 1", "opened 1"))).toBe(false);
  expect(isDrained(logOf("draining 2", "opened 1", "draining 1"))).toBe(true);
  expect(isDrained(logOf("draining", "opened", "draining"))).toBe(true);
  expect(isDrained(logOf("draining", "opened"))).toBe(false);
});
