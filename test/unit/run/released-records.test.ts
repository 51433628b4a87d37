// A record of each released format: a batch that was finished, resumed with more lines, and left when its client was
// killed. It must always load.

import { readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import type { TrackedJob } from "../../../src/model/batch-state.js";
import type { RunEvent } from "../../../src/model/event.js";
import { standingOf } from "../../../src/model/standing.js";
import { initialState } from "../../../src/plan/fold/initial-state.js";
import { olderFormats, readPast } from "../../../src/plan/fold/read-past.js";
import { replay } from "../../../src/plan/fold/replay.js";
import { keyOn, machineOf } from "../../../src/plan/run-state.js";
import { loadRecord } from "../../../src/run/home/record.js";
import { runMachines } from "../../../src/run/run-machines.js";
import { makeWorkspace } from "../../rig/workspace.js";
import { aSpec } from "../plan/a-machine.js";

const path = fileURLToPath(new URL("../../records/v1.jsonl", import.meta.url));

/** Fields that addresses have got since. */
const NOT_YET = { keyPath: "/home/me/.ssh/id_ed25519", configFile: null, transport: null };

test("version 1 loads, line by line, and gives the state of the batch", () => {
  const events = loadRecord(path);
  expect(events).toHaveLength(readFileSync(path, "utf8").trimEnd().split("\n").length);

  const past = readPast(events);
  expect(past?.batch).toBe("jobs.sh-b6a86d48");
  expect([...(past?.slots ?? [])]).toEqual([
    ["two.yaml (older spool)", [{ index: 0, gpus: [] }]],
    ["one.yaml (older spool)", [{ index: 0, gpus: [] }]],
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
  const machines = [...(past?.machines.keys() ?? [])];
  const formats = olderFormats(past?.machines.values() ?? []);
  const state = initialState({ jobs, machines, formats, policy });
  replay(state, events);
  const fine = { kind: "collected", outcome: { kind: "exited", code: 0 } };
  const standings = [...state.jobs].map(([line, tracked]) => [line, standingOf(tracked)]);
  expect(Object.fromEntries(standings)).toMatchObject({
    1: fine,
    2: { kind: "collected", outcome: { kind: "exited", code: 3 } },
    3: fine,
    4: { kind: "running", machine: "one.yaml (older spool)", slot: 0 },
    5: fine,
    6: fine,
    7: fine,
    8: fine,
    9: fine,
  });
  expect(standings).toHaveLength(9);
  expect(state.jobs.get(8)).toMatchObject({ lastNumber: 2, fate: { number: 2, run: 1 }, earlier: [] });
  expect(machineOf(state, "one.yaml (older spool)").hasSpool).toBe(true);
  expect(keyOn(state, "one.yaml (older spool)", 4)).toBe("0000004-1");
});

test("every kind of event of version 1 loads, under the names of version 2", () => {
  const everyKind = fileURLToPath(new URL("../../records/v1-every-kind.jsonl", import.meta.url));
  const before = readFileSync(everyKind, "utf8").trimEnd().split("\n");
  const events = loadRecord(everyKind);
  expect(events.map(({ kind }) => kind)).toEqual(before.map((line) => JSON.parse(line).kind));
  const ofKind = (kind: RunEvent["kind"]) => events.find((event) => event.kind === kind);
  expect(ofKind("run-started")).toMatchObject({
    jobs: [
      { id: 1, line: 1 },
      { id: 2, line: 2 },
    ],
  });
  expect(ofKind("jobs-added")).toMatchObject({ jobs: [{ id: 3, line: 3 }], position: { lines: 3 } });
  expect(ofKind("run-ended")).toMatchObject({ incomplete: [{ job: 2, attempt: 1 }] });
  const others = events.filter((event) => !("position" in event) && event.kind !== "run-started");
  for (const event of others) expect(JSON.stringify(event)).not.toMatch(/"lines?":/);
  expect(ofKind("jobs-assigned")).toMatchObject({ jobs: [1, 2], attempts: [1, 1] });
  expect(ofKind("jobs-taken-back")).toMatchObject({ jobs: [2], begun: [1] });
  expect(ofKind("job-ended")).toMatchObject({ job: 2, attempt: 1 });
});

test("a machine with something of version 1 has it in a separate spool, and still gets jobs", () => {
  const events = loadRecord(path);
  const past = readPast(events);
  const older = past?.machines.get("one.yaml (older spool)");
  expect(older).toEqual({
    ...past?.machines.get("one.yaml"),
    name: "one.yaml (older spool)",
    spool: { batch: "jobs.sh-b6a86d48", format: 1 },
  });
});

test("a machine with something of version 1, and of a client that resumed it with format 2, has both beside the one that gets jobs", async () => {
  const first = loadRecord(path);
  const begun = first.findLast((event) => event.kind === "run-started");
  const job = { id: 10, line: 10, name: "jobs.sh.10", command: "echo tenth" };
  const key = { at: 1, machine: "one.yaml" };
  const resumed = [
    { ...begun, batch: "jobs.sh-2", jobs: [job], at: 1 },
    { ...first.findLast((event) => event.kind === "machine-ready"), ...key },
    { ...key, kind: "jobs-assigned", jobs: [10], attempts: [1] },
    { ...key, kind: "jobs-handed-over", jobs: [10] },
    { ...key, kind: "job-started", job: 10, attempt: 1, slot: 0 },
  ];
  const lines = resumed.map((event) => `${JSON.stringify({ v: 2, ...event })}\n`);
  const work = await makeWorkspace();
  const both = await work.write("both.jsonl", `${readFileSync(path, "utf8")}${lines.join("")}`);
  const events = loadRecord(both);
  await work.remove();

  const past = readPast(events);
  const spoolOf = (name: string) => past?.machines.get(name)?.spool;
  expect(spoolOf("one.yaml")).toBeUndefined();
  expect(spoolOf("one.yaml (older spool)")).toEqual({ batch: "jobs.sh-b6a86d48", format: 1 });
  expect(spoolOf("one.yaml (older spool 2)")).toEqual({ batch: "jobs.sh-2", format: 2 });
  const policy = { retries: 2, retriesFailures: false, reassignAfterMs: null };
  const machines = [...(past?.machines.keys() ?? [])];
  const formats = olderFormats(past?.machines.values() ?? []);
  const state = initialState({ jobs: [...(past?.jobs.values() ?? [])], machines, formats, policy });
  replay(state, events);
  const machineOfJob = (id: number) => standingOf(state.jobs.get(id) as TrackedJob);
  expect(machineOfJob(4)).toMatchObject({ kind: "running", machine: "one.yaml (older spool)" });
  expect(machineOfJob(10)).toMatchObject({ kind: "running", machine: "one.yaml (older spool 2)" });
  expect(machineOf(state, "one.yaml").hasSpool).toBe(false);
  const spec = aSpec({ name: "one.yaml" });
  expect(runMachines("jobs.sh-3", [spec], past)[0]?.older.map(({ name, batch }) => [name, batch])).toEqual([
    ["one.yaml (older spool)", "jobs.sh-b6a86d48"],
    ["one.yaml (older spool 2)", "jobs.sh-2"],
  ]);
});

test("if nothing of version 1 is left, the machines do not change", async () => {
  const work = await makeWorkspace();
  const lines = readFileSync(path, "utf8").split("\n");
  const end = lines.findIndex((line) => line.includes('"kind":"run-ended"'));
  const ended = await work.write("ended.jsonl", `${lines.slice(0, end + 1).join("\n")}\n`);
  expect([...(readPast(loadRecord(ended))?.machines.keys() ?? [])]).toEqual(["one.yaml", "two.yaml"]);
  await work.remove();
});

const spools = fileURLToPath(new URL("../../spools/", import.meta.url));

test.each(readdirSync(spools))(
  "the record that %s left of a batch loads: its jobs are on a machine",
  async (version) => {
    const work = await makeWorkspace();
    // Outside of texts, a token stands for a number.
    const text = readFileSync(`${spools}${version}/record.jsonl`, "utf8").replaceAll("@PORT@", "22");
    const events = loadRecord(await work.write("record.jsonl", text));
    await work.remove();
    expect(events).toHaveLength(text.trimEnd().split("\n").length);
    const past = readPast(events);
    const policy = { retries: 2, retriesFailures: false, reassignAfterMs: null };
    const [jobs, machines] = [[...(past?.jobs.values() ?? [])], past?.machines ?? new Map()];
    const formats = olderFormats(machines.values());
    const state = initialState({ jobs, machines: [...machines.keys()], formats, policy });
    replay(state, events);
    const kinds = [...state.jobs.values()].map((tracked) => standingOf(tracked).kind);
    expect(kinds).toEqual(["queued", "queued", "queued", "queued"]);
  },
);
