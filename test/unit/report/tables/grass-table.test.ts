// What `grass show` prints on a narrow terminal.

import { expect, test } from "vitest";
import type { QueueJob } from "../../../../src/model/queue.js";
import { grassLines } from "../../../../src/report/tables/grass-table.js";

const JOB: QueueJob = {
  queue: "q1",
  id: 1,
  name: null,
  command: "python train.py --lr 0.01 --batch-size 8",
  cwd: "/w",
  need: { cpus: 1, memoryMb: 0, gpu: null, reservesMachine: false },
  priority: 0,
  after: [],
  terms: {},
  state: "failed",
  isHeld: false,
  isHere: false,
  attempt: 1,
  machine: "gpu1",
  got: { gpu: ["0"] },
  reason: null,
  enqueuedAt: 1_000_000_000,
  startedAt: 1_000_000_000,
  endedAt: 1_000_000_000,
  durationMs: 0,
  outcome: { kind: "exited", code: 3 },
  footprint: null,
  stderrTail: null,
  results: "/r",
};

function draw(columns: number, job = JOB): string[] {
  const daemon = { pid: 1, worker: null };
  const state = { daemon, address: "/s", workers: [], jobs: [job], left: 0 };
  return grassLines(state, { signs: { ellipsis: "…" }, columns }).map((line) =>
    line.map(({ text }) => text).join(""),
  );
}

test("at 80 columns the command is cut, and the result is not", () => {
  const line = draw(80).at(-1) ?? "";
  expect(line.length).toBeLessThanOrEqual(80);
  expect(line).toMatch(/ {2}Failed {2}python t.*… {2}\{"gpu":"0"\} {2}exit code 3$/);
});

test("where there is room, dates and commands are whole", () => {
  expect(draw(160).at(-1)).toContain(JOB.command);
  expect(draw(160).at(-1)).toMatch(/^1970-/);
});

test("a job that could not begin is a spawn error with its reason, as in that tool", () => {
  const outcome = { kind: "exited", code: 125, cause: "setup-failed" } as const;
  const stderrTail = "sshoal: the job cannot run in /data on gpu1: no such directory, or no access\n";
  expect(draw(160, { ...JOB, outcome, stderrTail }).at(-1)).toMatch(
    / {2}spawn error: the job cannot run in \/data on gpu1: no such directory/,
  );
});
