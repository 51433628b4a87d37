import { chmodSync, chownSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { afterEach, beforeEach, expect, test } from "vitest";
import type { RunEvent } from "../../../../src/model/event.js";
import { loadRecord, RunRecord } from "../../../../src/run/home/record.js";
import { isRoot } from "../../../rig/account.js";
import { makeWorkspace, type Workspace } from "../../../rig/workspace.js";

let work: Workspace;
let path: string;

beforeEach(async () => {
  work = await makeWorkspace();
  path = work.path("jobs.sh.jsonl");
});
afterEach(() => work.remove());

const EVENTS: RunEvent[] = [
  { kind: "jobs-assigned", at: 1, machine: "a.yaml", jobs: [1, 2] },
  { kind: "jobs-handed-over", at: 2, machine: "a.yaml", jobs: [1, 2] },
  { kind: "job-started", at: 3, job: 1, attempt: 1, machine: "a.yaml", slot: 0 },
  ...[1, 2].map((line): RunEvent => {
    const outcome = { kind: "lost", reason: 'é "quoted"\n\u2028' } as const;
    return { kind: "job-ended", at: 4, job: line, attempt: 1, machine: "a.yaml", outcome, durationMs: 10 };
  }),
];

function append(...events: RunEvent[]): void {
  const record = new RunRecord(path);
  record.append(events);
  record.close();
}

test("appended events are loaded, in order", () => {
  append(...EVENTS);
  expect(loadRecord(path)).toEqual(EVENTS);
});

test("without a file there are no events", () => {
  expect(loadRecord(path)).toEqual([]);
});

test("a later client appends to the record", () => {
  for (const event of EVENTS) append(event);
  expect(loadRecord(path)).toEqual(EVENTS);
});

test("it is on disk before close, for a client after a kill", () => {
  const record = new RunRecord(path);
  record.append([EVENTS[0] as RunEvent]);
  record.sync();
  expect(loadRecord(path)).toEqual(EVENTS.slice(0, 1));
  record.close();
});

test("events that are only for display are not kept", () => {
  append({ kind: "job-said", at: 1, job: 1, text: "epoch 1" }, { kind: "staged", at: 2, machine: "a.yaml" });
  expect(readFileSync(path, "utf8")).toBe("");
});

test("what a job printed last is not kept, how it ended is", () => {
  const [, , , ended] = EVENTS as [RunEvent, RunEvent, RunEvent, RunEvent];
  append({ ...ended, stderrTail: "a traceback\n" } as RunEvent);
  expect(readFileSync(path, "utf8")).not.toContain("traceback");
  expect(loadRecord(path)).toEqual([ended]);
});

test("only its owner may read it", () => {
  append(...EVENTS);
  expect(statSync(path).mode & 0o777).toBe(0o600);
});

test("cut at any byte it loads up to its last whole line, and continues from there", () => {
  append(...EVENTS);
  const whole = readFileSync(path);
  const next: RunEvent = { kind: "interrupted", at: 9, mode: "drain" };
  for (let cut = whole.length; cut >= Math.max(0, whole.length - 400); cut--) {
    writeFileSync(path, whole.subarray(0, cut));
    const kept = EVENTS.slice(0, whole.subarray(0, cut).filter((byte) => byte === 10).length);
    expect(loadRecord(path)).toEqual(kept);
    append(next);
    expect(loadRecord(path)).toEqual([...kept, next]);
  }
});

test("a line that cannot be read does not hide the others", () => {
  append(EVENTS[0] as RunEvent);
  const bad = ["{", "null", "42", '"text"', "[]", '{"v":1}', '{"v":2,"kind":"of a later version"}'];
  writeFileSync(path, `${readFileSync(path, "utf8")}${bad.join("\n")}\n\0\0\0\n`);
  append(EVENTS[1] as RunEvent);
  expect(loadRecord(path)).toEqual(EVENTS.slice(0, 2));
});

test("an event that could not be appended leaves nothing in the file", () => {
  append(EVENTS[0] as RunEvent);
  const record = new RunRecord(path);
  const cyclic = { ...EVENTS[1], jobs: [] as unknown[] };
  cyclic.jobs.push(cyclic);
  expect(() => record.append([EVENTS[1] as RunEvent, cyclic as unknown as RunEvent])).toThrow();
  record.append([EVENTS[2] as RunEvent]);
  record.close();
  expect(loadRecord(path)).toEqual([EVENTS[0], EVENTS[2]]);
});

test("a user's changes to a job are recorded: the next client must know which attempt is overtaken", () => {
  const changes: RunEvent[] = [
    { kind: "job-replaced", at: 1, job: 1 },
    { kind: "job-reopened", at: 2, job: 2 },
  ];
  append(...changes);
  expect(loadRecord(path)).toEqual(changes);
});

test("a record of a newer sshoal is refused, and does not change", () => {
  append(...EVENTS);
  const later = ['{"v":3,"kind":"run-started","sshoal":"9.1.0"}', '{"v":3,"kind":"run-ended"}'];
  writeFileSync(path, `${readFileSync(path, "utf8")}${later.join("\n")}\n`);
  const before = readFileSync(path, "utf8");
  expect(() => loadRecord(path)).toThrow(
    expect.objectContaining({
      name: "UserError",
      message: `${path}:6: made by sshoal 9.1.0, which is newer than this one (0.0.0-test)`,
      hint: expect.stringMatching(/^upgrade this one: .*npm install -g /),
    }),
  );
  expect(readFileSync(path, "utf8")).toBe(before);
});

test("its last line may be incomplete even if the rest is refused", () => {
  writeFileSync(path, '{"v":3,"kind":"run-ended"}\n{"v":3,"ki');
  expect(() => loadRecord(path)).toThrow(`${path}:1: made by a sshoal, which is newer than this one`);
});

test("a record is not read where other accounts can write", () => {
  append(...EVENTS);
  chmodSync(work.dir, 0o757);
  expect(() => loadRecord(path)).toThrow("other accounts can write it, and records there could make sshoal");
  chmodSync(work.dir, 0o755);
  expect(loadRecord(path)).toEqual(EVENTS);
});

test.runIf(isRoot)("a record is not read in a directory of another account", () => {
  append(...EVENTS);
  chownSync(work.dir, 12345, 12345);
  expect(() => loadRecord(path)).toThrow("it belongs to another account");
});
