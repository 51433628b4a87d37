// What `sshoal show` prints of a queue.

import { describe, expect, test } from "vitest";
import type { QueueJob } from "../../../../src/model/queue.js";
import { type QueueChoice, queueLines, sortJobs } from "../../../../src/report/tables/queue-lines.js";
import { queuedJobJson, queuedJobLine, queueHead } from "../../../../src/report/tables/queue-table.js";
import { aQueueJob } from "../../api/scripted-service.js";

const NOW = 1_000_000_000;
const MINUTE = 60_000;
const NONE = { succeeded: 0, failed: 0, stopped: 0, lost: 0, skipped: 0, running: 0, waiting: 0, held: 0 };
const signs = { ellipsis: "…", separator: " · " };

function aJob(id: number, some: Partial<QueueJob> = {}): QueueJob {
  const enqueuedAt = NOW - 38 * MINUTE;
  return aQueueJob({ id, command: `python train.py ${id}`, enqueuedAt, ...some });
}

function running(id: number, minutes: number, some: Partial<QueueJob> = {}): QueueJob {
  const startedAt = NOW - minutes * MINUTE;
  return aJob(id, { state: "running", machine: "gpu1", got: { gpu: ["0"] }, attempt: 1, startedAt, ...some });
}

const JOBS = [
  aJob(174, { terms: { parameters: { lr: "1e-3", bs: "64" } }, reason: "gpu1 kept for 189" }),
  running(172, 36, { got: { gpu: ["2"] } }),
  aJob(189, { name: "finetune-large", priority: 10, reason: "needs 2 cards, 0 free" }),
  running(173, 32),
];

function draw(
  jobs: readonly QueueJob[],
  some: Partial<QueueChoice> = {},
  columns = 80,
  counts = {},
): string[] {
  const queues = [{ name: "default", isPaused: false, counts: { ...NONE, ...counts } }];
  const choice = { order: "state", limit: 20, states: [], ...some } as const;
  const { lines } = queueLines({ queues, jobs }, choice, { signs, columns, now: NOW });
  return lines.map((line) =>
    line
      .map(({ text }) => text)
      .join("")
      .trimEnd(),
  );
}

describe("the table", () => {
  test("running jobs first, then waiting ones as they will start", () => {
    expect(draw(JOBS, {}, 80, { running: 2, waiting: 2 })).toEqual([
      "default  2 running, 2 waiting",
      " ID  STATE    PRIO  WHERE    TIME  JOB                  WHY",
      "173  running        gpu1:0    32m  python train.py 173",
      "172  running        gpu1:2    36m  python train.py 172",
      "189  waiting    10            38m  finetune-large       needs 2 cards, 0 free",
      "174  waiting                  38m  lr 1e-3 bs 64        gpu1 kept for 189",
    ]);
  });

  test.each([40, 60, 80])("fits %i columns, and keeps state, machine and time", (columns) => {
    const lines = draw(JOBS, {}, columns);
    for (const line of lines) expect(line.length).toBeLessThanOrEqual(columns);
    expect(lines[2]).toMatch(/173 {2}running +gpu1:0 +32m/);
  });

  test("a failed job has its exit code and its last words", () => {
    const failed = { state: "failed", outcome: { kind: "exited", code: 1 }, durationMs: 42_000 } as const;
    const job = running(3, 5, { ...failed, stderrTail: "Traceback\nKeyError: 'x'\n" });
    expect(draw([job])[2]).toMatch(/failed +gpu1:0 +42s .* exit 1: KeyError: 'x'$/);
    expect(queuedJobLine(job)).toBe("default/3 failed on gpu1:0 after 42s: exit 1: KeyError: 'x'");
    expect(JSON.parse(queuedJobJson(job))).toMatchObject({
      v: 2,
      kind: "queue-job",
      job: "default/3",
      failure: "exit",
    });
  });

  test("what a machine reports is in words, without the name of the queue's pool", () => {
    const lines = draw([aJob(1, { reason: "gpu1 res:gpu@train:2000:500" })], {}, 100);
    expect(lines.at(-1)).toMatch(/ gpu1: gpu: 0\.5 free, needs 2$/);
  });

  test("what a job or a reason says cannot move the cursor", () => {
    const [, , line] = draw([aJob(1, { command: "a\x1b[2Jb", reason: "c\rd" })]);
    expect(line).not.toMatch(/[\x00-\x1f]/);
  });

  test("the jobs beyond the limit are counted, by state", () => {
    const jobs = [1, 2, 3].map((id) => aJob(id));
    expect(draw(jobs, { limit: 2 }, 80, { waiting: 480, succeeded: 12 }).at(-1)).toBe(
      "… 478 more waiting, 12 more succeeded",
    );
    expect(draw(jobs, { limit: 2 })).toHaveLength(4);
  });

  test("a held job is not one that starts", () => {
    const lines = draw([aJob(1, { isHeld: true }), aJob(2)]);
    expect(lines.slice(2).map((line) => line.trim().split(/ +/).slice(0, 2))).toEqual([
      ["2", "waiting"],
      ["1", "held"],
    ]);
  });
});

test("orders by id, time and priority", () => {
  const ids = (order: QueueChoice["order"]) => sortJobs(JOBS, order).map(({ id }) => id);
  expect(ids("id")).toEqual([189, 174, 173, 172]);
  expect(ids("priority")[0]).toBe(189);
  expect(ids("time").at(-1)).toBe(173);
});

test("the head says that a queue is paused or empty", () => {
  expect(queueHead({ name: "q", isPaused: true, counts: { ...NONE, waiting: 2, held: 1 } })).toBe(
    "q  paused  2 waiting (1 held)",
  );
  expect(queueHead({ name: "q", isPaused: false, counts: NONE })).toBe("q  empty");
});
