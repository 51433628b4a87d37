import { expect, test } from "vitest";
import type { FailureClass } from "../../../src/model/failure.js";
import { describeOutcome, failureOf, type Outcome } from "../../../src/model/job.js";

test.each<[Outcome, FailureClass | null, string]>([
  [{ kind: "exited", code: 0 }, null, "exit code 0"],
  [{ kind: "exited", code: 3 }, "exit", "exit code 3"],
  [
    { kind: "exited", code: 1, cause: "gpu-out-of-memory" },
    "gpu-out-of-memory",
    "exit code 1: out of GPU memory",
  ],
  [{ kind: "exited", code: 1, cause: "disk-full" }, "disk-full", "exit code 1: the disk is full"],
  [{ kind: "exited", code: 125, cause: "setup-failed" }, "setup-failed", "exit code 125: the setup failed"],
  [{ kind: "killed", signal: "SIGTERM" }, "signal", "killed by SIGTERM"],
  [
    { kind: "killed", signal: "SIGKILL", cause: "out-of-memory" },
    "out-of-memory",
    "killed by SIGKILL: out of memory",
  ],
  [
    { kind: "killed", signal: "SIGKILL", cause: "likely-out-of-memory" },
    "likely-out-of-memory",
    "killed by SIGKILL: likely out of memory",
  ],
  [{ kind: "timed-out" }, "timeout", "ran out of time"],
  [{ kind: "lost", reason: "rebooted" }, "lost", "lost: rebooted"],
  [{ kind: "stopped" }, null, "stopped"],
])("%j", (outcome, failure, text) => {
  expect(failureOf(outcome)).toBe(failure);
  expect(describeOutcome(outcome)).toBe(text);
});
