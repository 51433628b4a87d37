import { expect, test } from "vitest";
import type { Outcome } from "../../../../src/model/job.js";
import { withCause } from "../../../../src/remote/spool/failure-cause.js";

const EXIT: Outcome = { kind: "exited", code: 1 };
const KILL: Outcome = { kind: "killed", signal: "SIGKILL" };

test.each<[string, Outcome, Record<string, string>, string]>([
  ["certain kill", KILL, { oom: "certain" }, "out-of-memory"],
  ["likely kill", KILL, { oom: "likely" }, "likely-out-of-memory"],
  ["message about a GPU", EXIT, { "gpu-memory": "yes" }, "gpu-out-of-memory"],
  ["full disk", EXIT, { disk: "full" }, "disk-full"],
  ["setup", EXIT, { setup: "failed" }, "setup-failed"],
  ["setup on a full disk", EXIT, { setup: "failed", disk: "full" }, "disk-full"],
  ["kill after a message about a GPU", KILL, { oom: "certain", "gpu-memory": "yes" }, "out-of-memory"],
  [
    "a message is surer than a count of the machine",
    KILL,
    { oom: "likely", "gpu-memory": "yes" },
    "gpu-out-of-memory",
  ],
])("%s", (_, outcome, facts, cause) => {
  expect(withCause(outcome, new Map(Object.entries(facts)))).toEqual({ ...outcome, cause });
});

test.each<[string, Outcome, Record<string, string>]>([
  ["no facts", EXIT, {}],
  ["facts of a later version", EXIT, { oom: "perhaps", colour: "red" }],
  ["a success", { kind: "exited", code: 0 }, { disk: "full" }],
  ["stopped", { kind: "stopped" }, { disk: "full" }],
  ["timed out", { kind: "timed-out" }, { disk: "full" }],
  ["lost", { kind: "lost", reason: "gone" }, { disk: "full" }],
])("nothing more is known: %s", (_, outcome, facts) => {
  expect(withCause(outcome, new Map(Object.entries(facts)))).toBe(outcome);
});
