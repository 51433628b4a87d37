import { expect, test } from "vitest";
import type { TrackedJob } from "../../../../src/model/batch-state.js";
import { sameCrashLines, setAsideLines } from "../../../../src/report/lines/crash-lines.js";
import { FAILURE, someJobs, started, viewOf } from "../builders.js";

const CRASH = { kind: "same-crash", at: 0, jobs: [2, 1, 3], outcome: FAILURE, action: "pause" } as const;
const ASIDE = { kind: "machine-set-aside", at: 0, machine: "a.yaml", jobs: [4], outcome: FAILURE } as const;

const aState = () => viewOf(["a.yaml"], [started(someJobs(5))]).state;

test("a pause: the lines of the first crash, made safe, and the keys", () => {
  const stderrTail = "Trace\x07back:\n\x1b[31mKeyError\x1b[0m: 'lr'\n\n";
  const [what, ...rest] = sameCrashLines({ ...CRASH, stderrTail }, aState());
  expect(what).toMatch(/^WARNING: the first 3 jobs crashed in the same way: exit 1; \S+\.2 printed last:$/);
  expect(rest).toEqual([
    "  Trace\\x07back:",
    "  KeyError: 'lr'",
    "paused: 5 waiting jobs do not start; c starts them anyway",
    "after a fix: q and s stop the batch, then type the same command with --retry-failed",
  ]);
});

test("jobs that no machine can ever run are not among those that a pause holds back", () => {
  const { state } = viewOf(["a.yaml"], [started(someJobs(5))]);
  state.jobs.set(5, { ...(state.jobs.get(5) as TrackedJob), fate: { kind: "dropped" } });
  state.leftOut.set(5, []);
  expect(sameCrashLines({ ...CRASH, stderrTail: "x\n" }, state)).toContain(
    "paused: 4 waiting jobs do not start; c starts them anyway",
  );
});

test("the end of a run, after crashes that printed nothing", () => {
  const outcome = { kind: "killed", signal: "SIGSEGV" } as const;
  const [what, ...rest] = sameCrashLines({ ...CRASH, outcome, stderrTail: "\n", action: "halt" }, aState());
  expect(what).toContain(": SIGSEGV; ");
  expect(rest).toEqual([
    "  (nothing on stderr)",
    "nothing new starts, running jobs finish; --no-pause runs all jobs anyway",
    "after a fix: type the same command with --retry-failed",
  ]);
});

test("a machine that is set aside, and jobs that follow", () => {
  expect(setAsideLines({ ...ASIDE, stderrTail: "ImportError: libcuda" })).toEqual([
    "WARNING: a.yaml is set aside, because its first jobs crashed in the same way: exit 1; 1 job runs elsewhere",
    "  ImportError: libcuda",
    "to check it: sshoal doctor --machines a.yaml; to use it again: sshoal undrain a.yaml",
  ]);
  expect(setAsideLines({ ...ASIDE, jobs: [4, 5], stderrTail: "x", isMore: true })).toEqual([
    "a.yaml is set aside: 2 jobs run elsewhere, after the same crash",
  ]);
});
