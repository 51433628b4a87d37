import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import type { RunEvent } from "../../../../src/model/event.js";
import { createTerminalReporter } from "../../../../src/report/live/terminal.js";
import {
  FAILURE,
  jobCollected,
  jobEnded,
  jobSaid,
  jobStarted,
  ready,
  SOURCES,
  slotsWith,
  someJobs,
  started,
  teller,
  unreachable,
} from "../builders.js";
import { Screen } from "../screen.js";

const HINT = "Ctrl-C: no new jobs, running ones finish";

beforeEach(() => void vi.useFakeTimers({ now: 0 }));
afterEach(() => void vi.useRealTimers());

function open(columns: number, rows: number, events: readonly RunEvent[] = []) {
  const screen = new Screen(columns, rows);
  const about = { ...SOURCES, machines: ["a.yaml"], useColour: true, useUnicode: true };
  const reporter = createTerminalReporter({ ...about, stream: screen, now: Date.now });
  const tell = teller((event, known) => reporter.show(event, known));
  tell(...events);
  vi.advanceTimersByTime(200);
  return { screen, reporter, tell };
}

const BUSY = [started(someJobs(4)), ready("a.yaml", slotsWith([0], [1])), jobStarted(1, "a.yaml", 0)];

function openBusy(columns: number, rows: number) {
  return open(columns, rows, BUSY);
}

test("the view is redrawn in place", () => {
  const { screen, tell } = openBusy(80, 24);
  const before = screen.lines;
  expect(before).toContain("● 1  a.yaml:0      0s  1");
  tell(jobSaid(1, "halfway"));
  vi.advanceTimersByTime(200);
  expect(screen.lines).toEqual(before.map((line) => line.replace("0s  1", "0s  1           halfway")));
});

test("output of jobs is printed above the view, at once if it is much", () => {
  const { screen, tell } = openBusy(80, 24);
  const view = screen.lines;
  const print = (text: string) =>
    tell({ kind: "job-output", at: 0, job: 1, attempt: 1, stream: "out", text });
  print("one\n\x1b[2Jtwo\n");
  vi.advanceTimersByTime(200);
  expect(screen.lines).toEqual(["batch.sh.1: one", "batch.sh.1: two", ...view]);
  const before = screen.writes;
  for (let n = 0; n < 5000; n++) print(`${n}\n`);
  expect(screen.writes - before).toBeGreaterThan(1);
  vi.advanceTimersByTime(200);
  expect(screen.lines.join("\n")).toContain("batch.sh.1: 4998\nbatch.sh.1: 4999\n");
});

test("a warning wider than the terminal leaves no rest of the earlier text", () => {
  const { screen, tell } = openBusy(40, 24);
  const view = screen.lines;
  tell({ kind: "warning", at: 0, message: `${"x".repeat(60)} end` });
  vi.advanceTimersByTime(200);
  expect(screen.lines).toEqual([`WARNING: ${"x".repeat(31)}`, `${"x".repeat(29)} end`, ...view]);
});

test("elapsed times are updated while nothing happens", () => {
  const { screen } = openBusy(80, 24);
  vi.advanceTimersByTime(5000);
  expect(screen.lines).toContain("● 1  a.yaml:0      5s  1");
});

test("only changed lines are drawn again", () => {
  const { screen, tell } = openBusy(80, 24);
  const before = screen.written;
  tell(jobSaid(1, "halfway"));
  vi.advanceTimersByTime(200);
  const drawn = screen.written.slice(before.length);
  expect(drawn).toContain("halfway");
  expect(drawn).not.toContain("a.yaml  1/2 busy");
});

test("many events are drawn at most five times per second", () => {
  const { screen, tell } = openBusy(80, 24);
  const before = screen.writes;
  for (let step = 0; step < 10_000; step += 1) {
    tell(jobSaid(1, `step ${step}`));
    if (step % 10 === 0) vi.advanceTimersByTime(1);
  }
  expect(screen.writes - before).toBeLessThanOrEqual(5);
});

test("warnings are printed above the view, and failures are listed in it", () => {
  const { screen, tell } = openBusy(80, 24);
  tell(unreachable("b.yaml"));
  tell(jobEnded(1, FAILURE));
  tell(jobCollected(1));
  tell(jobEnded(2));
  tell(jobCollected(2));
  vi.advanceTimersByTime(200);
  expect(screen.lines.slice(0, 2)).toEqual([
    "WARNING: b.yaml is left out: connection refused",
    "try: ssh b.yaml",
  ]);
  expect(screen.lines.filter((line) => line === "✗ 1  a.yaml:0      1s  exit 1")).toHaveLength(1);
  expect(screen.lines.filter((line) => line === HINT)).toHaveLength(1);
});

test("while a person is asked, nothing is drawn; events of that time are shown afterwards", () => {
  const { screen, reporter, tell } = openBusy(80, 24);
  reporter.suspend();
  reporter.suspend();
  expect(screen.lines).toEqual([]);
  screen.write("Enter passphrase: ");
  const before = screen.writes;
  tell(unreachable("b.yaml"));
  vi.advanceTimersByTime(5000);
  screen.emit("resize");
  expect(screen.writes).toBe(before);
  screen.write("\n");
  reporter.resume();
  expect(screen.lines.slice(0, 2)).toEqual([
    "Enter passphrase:",
    "WARNING: b.yaml is left out: connection refused",
  ]);
  expect(screen.lines.filter((line) => line === HINT)).toHaveLength(1);
});

test("a view that is closed while a person is asked still prints its summary, and draws no more", () => {
  const { screen, reporter } = openBusy(80, 24);
  reporter.suspend();
  reporter.close();
  const { lines, writes } = screen;
  expect(lines.length).toBeGreaterThan(0);
  reporter.resume();
  expect(screen.writes).toBe(writes);
});

test("after any events, the screen is the same as a freshly drawn one", () => {
  const events: RunEvent[] = [...BUSY, jobStarted(2, "a.yaml", 1), jobSaid(1, "hello")];
  events.push(jobEnded(1), jobCollected(1), ready("b.yaml", slotsWith([0])), jobStarted(3, "b.yaml", 0));
  events.push(
    jobEnded(2),
    jobStarted(4, "a.yaml", 0),
    jobEnded(3, undefined, 1000, "b.yaml"),
    jobCollected(3, 0, "b.yaml"),
    jobCollected(2),
    jobEnded(4),
  );
  const { screen, tell } = open(80, 24);
  for (const [index, event] of events.entries()) {
    tell(event);
    vi.advanceTimersByTime(200);
    vi.setSystemTime(0);
    const fresh = open(80, 24, events.slice(0, index + 1));
    vi.setSystemTime(0);
    expect(screen.lines).toEqual(fresh.screen.lines);
  }
});

describe("a change of size", () => {
  const events = [...BUSY, jobSaid(1, "word ".repeat(100)), unreachable("b.yaml", "refused ".repeat(50))];

  test.each([
    ["narrower", 40, 40],
    ["much narrower", 12, 60],
    ["wider", 200, 40],
    ["lower", 80, 12],
  ])("%s: drawn again at once, without a rest of the old view", (_, columns, rows) => {
    const { screen } = open(80, 40, events);
    screen.resize(columns, rows);
    const fresh = open(columns, rows, events);
    expect(screen.lines.slice(-5)).toEqual(fresh.screen.lines.slice(-5));
    expect(screen.lines).toHaveLength(fresh.screen.lines.length);
  });

  test("lower and higher again, in steps and while times change: the view is restored", () => {
    const { screen } = open(80, 40, events);
    const before = screen.lines;
    for (const [columns, rows] of [
      [80, 9],
      [40, 7],
      [80, 10],
      [80, 12],
      [80, 40],
    ] as const) {
      screen.resize(columns, rows);
      vi.advanceTimersByTime(2000);
    }
    const withoutTimes = (lines: readonly string[]) => lines.map((line) => line.replace(/ +\d+s/g, ""));
    expect(withoutTimes(screen.lines)).toEqual(withoutTimes(before));
  });
});

test("the ^C that the terminal echoes does not stay", () => {
  const { screen, tell } = openBusy(80, 24);
  screen.write("^C");
  tell({ kind: "interrupted", at: 0, mode: "drain" });
  vi.advanceTimersByTime(200);
  expect(screen.lines.at(-1)).toBe("stopping: no new jobs; running jobs finish (Ctrl-C again stops them)");
  expect(screen.cursorLine).toBe("");
});

test("closing leaves the summary and no part of the view", () => {
  const { screen, reporter, tell } = openBusy(80, 24);
  tell(jobEnded(1, FAILURE));
  tell(jobCollected(1, 61_000));
  reporter.close();
  reporter.close();
  vi.advanceTimersByTime(5000);
  screen.resize(79, 24);
  expect(screen.lines).toEqual([
    "batch.sh: 0 succeeded, 1 failed, 3 unfinished in 1m01s",
    "✗ 1  exit 1  a.yaml:0  1s",
    "unfinished jobs:",
    "  3 waiting",
    "Next: logs batch.sh.1 · attach · results",
  ]);
  expect(vi.getTimerCount()).toBe(0);
  expect(screen.listenerCount("resize")).toBe(0);
});

test("10,000 jobs run through the view", () => {
  const { screen, reporter, tell } = open(80, 24);
  tell(started(someJobs(10_000)));
  tell(ready("a.yaml", slotsWith([0])));
  for (let line = 1; line <= 10_000; line += 1) {
    tell(jobStarted(line, "a.yaml", 0, Date.now()));
    tell(jobEnded(line, undefined, 10));
    tell(jobCollected(line));
    vi.advanceTimersByTime(1);
  }
  vi.advanceTimersByTime(200);
  expect(screen.lines[0]).toContain("10000/10000 · 10s");
  reporter.close();
  expect(screen.lines).toEqual(["batch.sh: 10000 succeeded, 0 failed in 10s"]);
});
