// A record of each released format: a batch that was finished, went on with more lines, and was left when its client
// was killed. Whatever changes, it must load.

import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { standingOf } from "../../../src/model/batch-state.js";
import { initialState } from "../../../src/plan/fold/initial-state.js";
import { readPast, replay } from "../../../src/plan/fold/replay.js";
import { machineOf } from "../../../src/plan/run-state.js";
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
  const jobs = [...(past?.jobs.values() ?? [])];
  const state = initialState({ jobs, machines: ["one.yaml", "two.yaml"], policy });
  replay(state, events);
  const fine = { kind: "collected", outcome: { kind: "exited", code: 0 } };
  const standings = [...state.jobs].map(([line, tracked]) => [line, standingOf(tracked)]);
  expect(Object.fromEntries(standings)).toMatchObject({
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
  expect(standings).toHaveLength(9);
  expect(state.jobs.get(8)).toMatchObject({ lastNumber: 2, attempts: [{ number: 2, run: 1 }] });
  expect(machineOf(state, "one.yaml").hasSpool).toBe(true);
});
