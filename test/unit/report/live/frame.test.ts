import { stripVTControlCharacters } from "node:util";
import { describe, expect, test } from "vitest";
import type { RunEvent } from "../../../../src/model/event.js";
import { frameLines } from "../../../../src/report/live/frame.js";
import { lookOf } from "../../../../src/report/live/styled-text.js";
import type { ViewState } from "../../../../src/report/live/view-state.js";
import { textWidth } from "../../../../src/report/text/width.js";
import {
  aView,
  FAILURE,
  jobCollected,
  jobEnded,
  jobSaid,
  jobStarted,
  ready,
  slotsWith,
  someJobs,
  started,
  unreachable,
  viewOf,
} from "../builders.js";

const PLAIN = lookOf({ useColour: false, useUnicode: true });

function frame(
  view: ViewState,
  columns: number,
  rows: number,
  { now = 65_000, look = PLAIN } = {},
): string[] {
  return frameLines(view, { columns, rows, now, look });
}

const MACHINES = ["a.yaml", "big.yaml", "c.yaml", "d.yaml"];
const EVENTS: RunEvent[] = [
  started(someJobs(10)),
  { kind: "job-skipped", at: 0, job: 1, outcome: null },
  ready("a.yaml", slotsWith([0], [1])),
  ready("big.yaml", slotsWith([], [])),
  { kind: "staging", at: 0, machine: "big.yaml", sentBytes: 12_300_000, totalBytes: 50_000_000 },
  unreachable("c.yaml"),
  jobStarted(2, "a.yaml", 1, 0),
  jobEnded(2, FAILURE, 30_000),
  jobCollected(2),
  jobEnded(3, undefined, 30_000),
  jobStarted(4, "a.yaml", 0, 3000),
  jobStarted(5, "a.yaml", 1, 60_000),
  jobSaid(5, "epoch 2/10 loss 0.21"),
];
const BUSY = viewOf(MACHINES, EVENTS);

test("how a job failed is never cut, however short the descriptions are", () => {
  const outcome = { kind: "killed", signal: "SIGKILL", cause: "likely-out-of-memory" } as const;
  const view = viewOf(
    ["a.yaml"],
    [
      started(someJobs(2)),
      ready("a.yaml", slotsWith([0], [1])),
      jobStarted(2, "a.yaml", 1, 0),
      jobEnded(2, outcome, 30_000),
      jobCollected(2),
    ],
  );
  expect(frame(view, 80, 24).join("\n")).toContain("30s  out of memory?");
});

test("the rate of a machine's copy, and its remaining time", () => {
  const sent = (at: number, sentBytes: number): RunEvent => ({
    kind: "staging",
    at,
    machine: "big.yaml",
    sentBytes,
    totalBytes: 50_000_000,
  });
  const view = viewOf(
    ["big.yaml"],
    [started(someJobs(1)), ready("big.yaml", []), sent(1000, 0), sent(3000, 5e6)],
  );
  expect(frame(view, 80, 24)).toContain("big.yaml  staging 5.0 MB of 50.0 MB, 10%, 2.5 MB/s, ~20s left");
});

test("the rate of a large collection, beside the machine's state, until it is done", () => {
  const got = (at: number, receivedBytes: number): RunEvent => ({
    kind: "collecting",
    at,
    machine: "big.yaml",
    receivedBytes,
    totalBytes: 50_000_000,
  });
  const before = [started(someJobs(1)), ready("big.yaml", slotsWith([])), got(1000, 10e6), got(3000, 15e6)];
  expect(frame(viewOf(["big.yaml"], before), 80, 24)).toContain(
    "big.yaml  0/1 busy  collecting 15.0 MB of 50.0 MB, 30%, 2.5 MB/s, ~15s left",
  );
  const arrived: RunEvent = {
    kind: "jobs-arrived",
    at: 4000,
    machine: "big.yaml",
    jobs: [1],
    attempts: [1],
  };
  expect(frame(viewOf(["big.yaml"], [...before, arrived]), 80, 24)).toContain("big.yaml  0/1 busy");
});

test("80 by 24", () => {
  expect(frame(BUSY, 80, 24)).toEqual([
    "batch.sh  ━━━━╳╳╳╳╍╍╍╍╍╍╍╍╍╍╍╍────────────────────  2/10 · 1m05s · ~45s left",
    "0 succeeded · 1 failed · 2 running · 5 waiting · 1 skipped · 1 to collect",
    "",
    "a.yaml    2/2 busy",
    "big.yaml  staging 12.3 MB of 50.0 MB, 24%",
    "c.yaml    left out: connection refused",
    "d.yaml    no answer for 1m05s, connecting",
    "",
    "✗  2  a.yaml:1     30s  exit 1",
    "",
    "●  4  a.yaml:0   1m02s  4",
    "●  5  a.yaml:1      5s  5           epoch 2/10 loss 0.21",
    "○  6  waits      1m05s  no machine has room for it now",
    "○ 4 more wait",
    "",
    "Ctrl-C: no new jobs, running ones finish",
  ]);
});

test("40 columns", () => {
  expect(frame(BUSY, 40, 24)).toEqual([
    "batch.sh  2/10 · 1m05s · ~45s left",
    "0 succeeded 1 failed 2 running 5 waiting",
    "",
    "a.yaml    2/2 busy",
    "big.yaml  staging 12.3 MB of 50.0 MB, 2…",
    "c.yaml    left out: connection refused",
    "d.yaml    no answer for 1m05s, connecti…",
    "",
    "✗  2  a.yaml:1     30s  exit 1",
    "",
    "●  4  a.yaml:0   1m02s  4",
    "●  5  a.yaml:1      5s  5",
    "○  6  waits      1m05s  no machine has …",
    "○ 4 more wait",
    "",
    "Ctrl-C: no new jobs, running ones finish",
  ]);
});

test("without Unicode everything is ASCII, even in cut lines", () => {
  const look = lookOf({ useColour: false, useUnicode: false });
  const lines = frame(BUSY, 36, 8, { look });
  expect(lines.join("")).toMatch(/^[\x20-\x7e]*$/);
  expect(lines[0]).toBe("batch.sh  2/10, 1m05s, ~45s left");
});

test("colours change only colours", () => {
  const look = lookOf({ useColour: true, useUnicode: true });
  const lines = frame(BUSY, 80, 24, { look });
  expect(lines.join("")).toContain("\x1b[31m");
  expect(lines.map(stripVTControlCharacters)).toEqual(frame(BUSY, 80, 24));
});

test("machines are shown before the jobs are known", () => {
  expect(frame(viewOf(["a.yaml"], []), 80, 24)).toEqual([
    "a.yaml  connecting",
    "",
    "Ctrl-C: no new jobs, running ones finish",
  ]);
});

test.each([
  ["drain", "stopping: no new jobs; running jobs finish (Ctrl-C again stops them)"],
  ["stop", "stopping running jobs, collecting their results"],
] as const)("while interrupted (%s) the last line says what happens", (mode, text) => {
  const view = viewOf(["a.yaml"], [started(someJobs(1)), { kind: "interrupted", at: 0, mode }]);
  expect(frame(view, 80, 24).at(-1)).toBe(text);
});

test("a --halt rule that is met, or a pause, is shown in the last line", () => {
  const halted: RunEvent = { kind: "halted", at: 0, when: "now", why: "done", count: 4, rule: "now,done=4" };
  const events: RunEvent[] = [started(someJobs(1)), { kind: "paused", at: 0, pid: 4711 }];
  const paused = "paused: no new jobs, running ones continue; kill -USR2 4711 resumes";
  expect(frame(viewOf(["a.yaml"], events), 80, 24).at(-1)).toBe(paused);
  const resumed: RunEvent[] = [...events, { kind: "continued", at: 0 }];
  expect(frame(viewOf(["a.yaml"], resumed), 80, 24).at(-1)).toMatch(/^Ctrl-C: /);
  expect(frame(viewOf(["a.yaml"], [...events, halted]), 80, 24).at(-1)).toBe(
    "4 jobs done: --halt now,done=4 stops running jobs",
  );
});

test("a job of the same batch that has the card is named by its number alone", () => {
  const reason = "cards:1000:0 card:0:taken:-:b1:19";
  const view = viewOf(
    ["a.yaml"],
    [
      started(someJobs(1)),
      ready("a.yaml", slotsWith([0])),
      { kind: "jobs-assigned", at: 0, machine: "a.yaml", jobs: [1] },
      { kind: "slot-waiting", at: 0, machine: "a.yaml", slot: 0, reason },
    ],
  );
  const lines = frame(view, 80, 24).join("\n");
  expect(lines).toContain("waits: card 0 runs job 19\n");
  expect(lines).toContain("a.yaml: card 0 runs job 19\n");
});

test("a slot that waits for a card shows why, and a machine without room shows that", () => {
  const view = viewOf(
    ["a.yaml", "b.yaml"],
    [
      ready("a.yaml", slotsWith([0], [1])),
      ready("b.yaml", []),
      { kind: "slot-waiting", at: 0, machine: "a.yaml", slot: 1, reason: "GPU 1 is in use" },
    ],
  );
  expect(frame(view, 80, 24).slice(0, 2)).toEqual([
    "a.yaml  0/2 busy  waits: GPU 1 is in use",
    "b.yaml  no room for a job now",
  ]);
});

test("a lost connection, and a machine that has nothing left to do", () => {
  const { view, tell } = aView(
    ["a.yaml", "b.yaml"],
    [
      ready("a.yaml", slotsWith([0])),
      ready("b.yaml", slotsWith([0])),
      { kind: "machine-lost", at: 0, machine: "a.yaml", reason: "no answer for 30 s" },
      { kind: "machine-done", at: 0, machine: "b.yaml" },
    ],
  );
  expect(frame(view, 80, 24).slice(0, 2)).toEqual([
    "a.yaml  unreachable for 1m05s, trying again: no answer for 30 s",
    "b.yaml  done",
  ]);
  tell({ kind: "machine-back", at: 0, machine: "a.yaml" });
  tell({ kind: "jobs-assigned", at: 0, machine: "b.yaml", jobs: [1] });
  expect(frame(view, 80, 24).slice(0, 2)).toEqual(["a.yaml  0/1 busy", "b.yaml  0/1 busy"]);
});

test("a drained machine shows that it takes no more jobs, until it is opened", () => {
  const { view, tell } = aView(
    ["a.yaml"],
    [started(someJobs(1)), ready("a.yaml", slotsWith([0])), jobStarted(1, "a.yaml", 0, 60_000)],
  );
  tell({ kind: "machine-draining", at: 61_000, machine: "a.yaml" });
  expect(frame(view, 80, 24)).toContain("a.yaml  1/1 busy  takes no more jobs");
  tell({ kind: "machine-opened", at: 62_000, machine: "a.yaml" });
  expect(frame(view, 80, 24)).toContain("a.yaml  1/1 busy");
});

test("a machine that does not answer is marked before its connection counts as lost", () => {
  const { view, tell } = aView(
    ["a.yaml"],
    [started(someJobs(1)), ready("a.yaml", slotsWith([0])), jobStarted(1, "a.yaml", 0, 60_000)],
  );
  tell({ kind: "machine-quiet", at: 62_000, machine: "a.yaml", since: 58_000 });
  expect(frame(view, 80, 24)).toContain("a.yaml  no answer for 7s; its job continues");
  expect(frame(view, 80, 24)).toContain("● 1  a.yaml:0      5s  echo 1      last seen 7s ago");
  tell({ kind: "machine-lost", at: 63_000, machine: "a.yaml", reason: "reset" });
  expect(frame(view, 80, 24)).toContain("a.yaml  unreachable for 7s, trying again; its job continues: reset");
  tell({ kind: "machine-quiet", at: 64_000, machine: "a.yaml", since: null });
  tell({ kind: "machine-back", at: 64_000, machine: "a.yaml" });
  expect(frame(view, 80, 24)).toContain("a.yaml  1/1 busy");
});

describe("when not everything fits", () => {
  const machines = Array.from({ length: 20 }, (_, index) => `m${index}.yaml`);
  const crowd = viewOf(machines, [
    started(someJobs(10_000)),
    ...machines.map((machine) => ready(machine, slotsWith([0], [1], [2], [3]))),
    ...machines.flatMap((machine, m) =>
      [0, 1, 2, 3].map((slot) => jobStarted(m * 4 + slot + 1, machine, slot)),
    ),
  ]);

  test("both lists end with the number of further entries", () => {
    const lines = frame(crowd, 80, 24);
    expect(lines).toHaveLength(23);
    expect(lines).toContain("… 12 more machines");
    expect(lines).toContain("… 71 more running");
    expect(lines.at(-1)).toBe("Ctrl-C: no new jobs, running ones finish");
  });

  test("if there are few machines, the jobs get their lines", () => {
    const view = viewOf(
      ["a.yaml"],
      [
        started(someJobs(50)),
        ready("a.yaml", slotsWith(...Array.from({ length: 50 }, () => []))),
        ...Array.from({ length: 50 }, (_, slot) => jobStarted(slot + 1, "a.yaml", slot)),
      ],
    );
    expect(frame(view, 80, 24)).toContain("… 32 more running");
  });

  test.each([0, 1, 2, 3, 4, 5, 6, 10, 24, 100, 200])("%i rows are never exceeded", (rows) => {
    expect(frame(crowd, 80, rows).length).toBeLessThanOrEqual(Math.max(0, rows - 1));
  });
});

describe("lines never exceed the columns", () => {
  const long = "very/long/".repeat(1000);
  const wide = "日本語🎉".repeat(100);
  const view = viewOf(
    [long, wide],
    [
      started([
        { id: 1, line: 1, name: long, command: long },
        { id: 2, line: 2, name: wide, command: wide },
        { id: 3, line: 3, name: "tab\there", command: "a\tb\x1b[31m\tc" },
      ]),
      ready(long, slotsWith([0], [1], [2])),
      unreachable(wide, wide),
      jobStarted(1, long, 0),
      jobStarted(2, long, 1),
      jobStarted(3, long, 2),
      jobSaid(2, wide),
    ],
  );

  test.each([1, 2, 5, 10, 39, 40, 41, 80, 99, 100, 200])("%i columns", (columns) => {
    const lines = frame(view, columns, 24);
    for (const line of lines) expect(textWidth(line)).toBeLessThanOrEqual(columns);
    expect(lines.join("")).not.toMatch(/[\x00-\x1f\x7f-\x9f]/);
  });
});

test("once every open job is on a machine, the view says that closing the window is safe", () => {
  const { view, tell } = aView(["a.yaml"], [started(someJobs(2)), ready("a.yaml", slotsWith([], []))]);
  expect(frame(view, 80, 24).at(-1)).toBe("Ctrl-C: no new jobs, running ones finish");
  tell({ kind: "jobs-handed-over", at: 0, machine: "a.yaml", jobs: [1, 2] });
  expect(frame(view, 80, 24).at(-1)).toBe(
    "Ctrl-C: no new jobs, running ones finish; closing this window stops nothing",
  );
});
