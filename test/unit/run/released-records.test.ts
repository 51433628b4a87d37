// A record of each released format: a batch that was finished, went on with more lines, and was left when its client
// was killed. Whatever changes, it must load.

import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { readPast, replay } from "../../../src/plan/replay.js";
import { initialState, machineOf } from "../../../src/plan/run-state.js";
import { loadRecord } from "../../../src/run/record.js";

const path = fileURLToPath(new URL("../../records/v1.jsonl", import.meta.url));

/** What an address has had since. */
const NOT_YET = { keyPath: "/home/me/.ssh/id_ed25519", configFile: null, transport: null };

test("version 1 loads, line by line, and tells where the batch stood", () => {
  const events = loadRecord(path);
  expect(events).toHaveLength(readFileSync(path, "utf8").trimEnd().split("\n").length);

  const past = readPast(events);
  expect(past?.batch).toBe("jobs.sh-b6a86d48");
  expect([...(past?.slots ?? [])]).toEqual([
    ["two.yaml", [{ index: 0, gpus: [] }]],
    ["one.yaml", [{ index: 0, gpus: [] }]],
  ]);
  expect(past?.machines.get("one.yaml")).toEqual({
    name: "one.yaml",
    address: { kind: "ssh", host: "127.0.0.1", port: 2201, username: "root", ...NOT_YET },
    scratch: null,
    file: "/home/me/machines/one.yaml",
  });
  expect(past?.commands.get(2)).toBe("exit 3");

  const policy = { retries: 2, retriesFailures: false, reassignAfterMs: null };
  const state = initialState([...(past?.jobs.values() ?? [])], ["one.yaml", "two.yaml"], policy);
  replay(state, events);
  const fine = { kind: "collected", outcome: { kind: "exited", code: 0 } };
  expect(Object.fromEntries(state.jobs)).toEqual({
    1: fine,
    2: { kind: "collected", outcome: { kind: "exited", code: 3 } },
    3: fine,
    4: { kind: "running", machine: "one.yaml", slot: 0 },
    5: fine,
    6: fine,
    7: fine,
    8: fine,
    9: fine,
  });
  expect(state.attempts.get(8)).toBe(2);
  expect(machineOf(state, "one.yaml").hasSpool).toBe(true);
});
