import { expect, test } from "vitest";
import type { News } from "../../../src/model/event.js";
import { kindOf, type Requirement } from "../../../src/model/job.js";
import { readPast } from "../../../src/plan/fold/read-past.js";
import { aCapacity } from "./a-machine.js";
import { aNewRun, runStarted } from "./a-run.js";

const BIG: Requirement = { cpus: 1, memoryMb: 99_999_999, gpu: null, reservesMachine: false };
const KIND = kindOf(BIG);
const big = (id: number) => ({ id, line: id, name: `jobs.sh.${id}`, command: "true", requirement: BIG });

function aMixedRun(machines: Record<string, number>) {
  const run = aNewRun({ jobs: 1, machines });
  run.tell(runStarted([big(2), big(3)]));
  run.begin();
  return run;
}

const short = [{ kind: KIND, reason: "too little memory" }];
const ready = (machine: string, serves: boolean): News => ({
  kind: "machine-ready",
  machine,
  capacity: aCapacity(),
  slots: [{ index: 0, gpus: [] }],
  kinds: serves ? ["-", KIND] : ["-"],
  ...(!serves && { short }),
});
const failed = (machine: string): News => ({
  kind: "machine-failed",
  machine,
  reason: "no route",
  hint: null,
});

test("jobs that no machine can ever run are reported once, with the reason of each machine", () => {
  const run = aMixedRun({ a: 1, b: 1 });
  run.tell(ready("a", false));
  expect(run.news("jobs-left-out")).toEqual([]);
  run.tell(ready("b", false));
  const [news, ...others] = run.news("jobs-left-out");
  const reasons = ["a", "b"].map((machine) => ({ machine, reason: "too little memory" }));
  expect([news, others]).toEqual([{ kind: "jobs-left-out", jobs: [2, 3], reasons }, []]);
  run.tell(news as News);
  expect(run.news("jobs-left-out")).toEqual([]);
  expect([...run.state.leftOut.keys()]).toEqual([2, 3]);
});

test("a machine that lacks what another one has is not worth a word", () => {
  const run = aMixedRun({ a: 1, b: 1 });
  run.tell(ready("a", false), ready("b", true));
  expect(run.news("jobs-left-out")).toEqual([]);
});

test("a machine that could not be asked may be the one that has it", () => {
  const run = aMixedRun({ a: 1, b: 1 });
  run.tell(ready("a", false), failed("b"));
  expect(run.news("jobs-left-out")).toEqual([]);
});

test("where no machine runs any job, each has given its reason already", () => {
  const run = aMixedRun({ a: 1 });
  run.tell({ kind: "machine-failed", machine: "a", reason: "no room", hint: null, hasNoRoom: true, short });
  expect(run.news("jobs-left-out")).toEqual([]);
});

test("jobs that arrive: what they need is judged by each machine before they come", () => {
  const run = aNewRun({ jobs: 1, machines: { a: 1 } });
  run.begin();
  run.tell(ready("a", true), {
    kind: "machine-serves",
    machine: "a",
    kinds: [],
    short: [{ kind: "x", reason: "no" }],
  });
  expect(run.state.machines.get("a")?.short).toEqual(new Map([["x", "no"]]));
});

test("a stdin is done although a job was left out, so that the same commands run again", () => {
  const ended = (leftOut: number) =>
    readPast([
      { ...runStarted(), at: 0 } as never,
      { kind: "jobs-added", jobs: [big(1)], position: null, at: 1 },
      { kind: "jobs-complete", at: 2 },
      {
        kind: "run-ended",
        counts: { succeeded: 1, failed: 0, stopped: 0, lost: 0, skipped: 0, unfinished: 1, leftOut },
        at: 3,
      },
    ])?.pile.isDone;
  expect([ended(1), ended(0)]).toEqual([true, false]);
});
