import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import type { BatchStatus, JobStatus } from "../../../../src/model/batch-status.js";
import { statusJson, statusLines } from "../../../../src/report/tables/status-lines.js";
import { signsOf } from "../../../../src/report/text/signs.js";
import { textWidth } from "../../../../src/report/text/width.js";
import { FAILURE, SUCCESS, slotsWith } from "../builders.js";

const DOCUMENT = readFileSync(new URL("../../../../docs/json-events.md", import.meta.url), "utf8");

function aJob(line: number, facts: Partial<JobStatus> = {}): JobStatus {
  const nowhere = { machine: null, slot: null, attempt: 0, startedAt: null, elapsedMs: null, key: null };
  const open = { outcome: null, isHere: false };
  return { job: line, name: `jobs.sh.${line}`, line, state: "waiting", ...nowhere, ...open, ...facts };
}

function aStatus(facts: Partial<BatchStatus> = {}): BatchStatus {
  return {
    batch: "jobs.sh-1a2b3c4d",
    stem: "jobs.sh",
    directory: "~/vit",
    jobs: [],
    slots: new Map(),
    spoolFormats: new Map(),
    lastWords: new Map(),
    shortages: new Map(),
    follower: null,
    command: "sshoal attach jobs.sh",
    unreached: [],
    isAtWork: false,
    elapsedMs: 65_000,
    timeLeftMs: null,
    ...facts,
  };
}

const linesOf = (facts: Partial<BatchStatus>, columns = 80) =>
  statusLines(aStatus(facts), { signs: signsOf(true), columns, rowColumns: columns });

const running = (line: number, slot = 0) =>
  aJob(line, {
    state: "running",
    machine: "one.yaml",
    slot,
    gpus: [`${slot}`],
    attempt: 1,
    startedAt: 1,
    elapsedMs: 62_000,
  });
const failed = (line: number) =>
  aJob(line, {
    state: "failed",
    machine: "two.yaml",
    slot: 1,
    attempt: 1,
    startedAt: 1_760_000_000_000,
    elapsedMs: 61_250,
    outcome: FAILURE,
    isHere: true,
  });
const done = (line: number) => aJob(line, { state: "succeeded", outcome: SUCCESS, isHere: true });
const AT_WORK = { isAtWork: true, elapsedMs: 65_000, timeLeftMs: 122_000 };

test("jobs that no machine can ever run are counted and explained, and no client is asked for", () => {
  const leftOut = [{ machine: "one.yaml", reason: "licence: a job needs 1, the machine has 0.5" }];
  const [head, counts, , ...rows] = linesOf(
    { jobs: [done(1), aJob(2, { leftOut }), aJob(3, { leftOut })] },
    160,
  );
  expect(head).toContain("jobs.sh  failed  took ");
  expect(counts).toBe("1 succeeded · 2 left out · 3 in all");
  expect(rows).toEqual([
    "waiting    2         1m05s  no machine can ever run it: one.yaml: licence: a job needs 1, the machine has 0.5",
    "… 1 more waits",
  ]);
});

test("a pause is shown, with the command that ends it", () => {
  const lines = linesOf({ jobs: [running(1), aJob(2)], follower: "process 7", pausedPid: 7, ...AT_WORK });
  expect(lines).toContain("followed by process 7, paused: kill -USR2 7 resumes");
  expect(lines.at(-1)).toMatch(/^waiting +2 .* the batch is paused$/);
});

test("how far it is, who follows it, why jobs failed, and the last line of those that run", () => {
  const jobs = [done(1), failed(2), running(3), running(10, 1), aJob(11), aJob(12, { machine: "one.yaml" })];
  jobs[2] = { ...running(3), elapsedMs: 9000 };
  const lastWords = new Map([
    [2, "Traceback\n  …\nKeyError: 'pos_embed'\n"],
    [3, "epoch 19/30\r\u001b[2Kepoch 20/30\tloss 0.488"],
  ]);
  const slots = new Map([["one.yaml", slotsWith([0], [1])]]);
  expect(linesOf({ jobs, slots, lastWords, follower: "process 1234", ...AT_WORK })).toEqual([
    "jobs.sh  running  1m05s, ~2m left  in ~/vit  (jobs.sh-1a2b3c4d)",
    "1 succeeded · 1 failed · 2 running · 2 waiting · 6 in all",
    "followed by process 1234",
    "STATE    JOB  WHERE        TIME  WHAT",
    "failed     2  two.yaml    1m01s  exit 1: KeyError: 'pos_embed'",
    "running    3  one.yaml:0     9s  epoch 20/30 loss 0.488",
    "running   10  one.yaml:1  1m02s",
    "waiting   11              1m05s  no machine has it yet",
    "waiting   12              1m05s  one.yaml: 2 of 2 busy",
  ]);
});

test("a locale without Unicode gets commas and three dots", () => {
  const jobs = Array.from({ length: 22 }, (_, index) => running(index + 1));
  const lines = statusLines(aStatus({ jobs, ...AT_WORK }), {
    signs: signsOf(false),
    columns: 80,
    rowColumns: 80,
  });
  expect(lines[1]).toBe("0 succeeded, 22 running, 22 in all");
  expect(lines.at(-1)).toBe("... 2 more running");
});

test("jobs that wait for the same reason share a row; what a slot says is put into words", () => {
  const jobs = [1, 2, 3, 4].map((line) => aJob(line, { machine: line < 4 ? "a" : null }));
  const shortages = new Map([1, 2, 3].map((job) => [job, "memory: 16384 MB wanted, 14541 MB free"]));
  expect(linesOf({ jobs, shortages, ...AT_WORK }).slice(2)).toEqual([
    "no client follows it: sshoal attach jobs.sh resumes it",
    "STATE    JOB  WHERE   TIME  WHAT",
    "waiting    1         1m05s  a: needs 16.0 GB of memory, 14.2 GB free",
    "waiting    4         1m05s  no client follows the batch",
    "… 2 more wait",
  ]);
});

test("jobs with results still on the machine have ended, and are to be collected", () => {
  const ended = [
    aJob(1, { state: "succeeded", machine: "one.yaml", outcome: SUCCESS }),
    aJob(2, {
      state: "failed",
      machine: "one.yaml",
      slot: 0,
      outcome: { kind: "killed", signal: "SIGKILL" },
    }),
  ];
  expect(linesOf({ jobs: ended })).toEqual([
    "jobs.sh  failed  took 1m05s  in ~/vit  (jobs.sh-1a2b3c4d)",
    "1 succeeded · 1 failed · 2 of them to collect · 2 in all",
    "no client follows it: sshoal attach jobs.sh collects its results",
    "STATE   JOB  WHERE     TIME  WHAT",
    "failed    2  one.yaml        SIGKILL",
  ]);
});

test("a batch with all results collected needs no client; results without a record count as skipped", () => {
  const jobs = [done(1), aJob(2, { state: "skipped", isHere: true })];
  expect(linesOf({ jobs })).toEqual([
    "jobs.sh  succeeded  took 1m05s  in ~/vit  (jobs.sh-1a2b3c4d)",
    "1 succeeded · 1 skipped · 2 in all",
  ]);
});

test("what was stopped or lost is counted and listed, with how it ended", () => {
  const about = { machine: "one.yaml", slot: 0, isHere: true };
  const jobs = [
    aJob(1, { state: "stopped", outcome: { kind: "stopped" }, ...about }),
    aJob(2, { state: "stopped" }),
    aJob(3, { state: "lost", outcome: { kind: "lost", reason: "reboot" }, ...about }),
  ];
  expect(linesOf({ jobs })).toEqual([
    "jobs.sh  lost  took 1m05s  in ~/vit  (jobs.sh-1a2b3c4d)",
    "0 succeeded · 2 stopped · 1 lost · 3 in all",
    "the same command, or sshoal retry --state stopped, runs stopped jobs again",
    "STATE    JOB  WHERE     TIME  WHAT",
    "lost       3  one.yaml        lost: reboot",
    "stopped    1  one.yaml        stopped",
    "stopped    2                  it had not begun",
  ]);
});

test("jobs that no client and no machine works on make the batch wait", () => {
  expect(linesOf({ jobs: [done(1), aJob(2)] })[0]).toMatch(/^jobs\.sh {2}waiting {2}took /);
});

test("a machine that could not be asked is named", () => {
  const unreached = [{ machine: "one.yaml", reason: "127.0.0.1:22: connection refused" }];
  expect(linesOf({ jobs: [running(1)], follower: "process 1", unreached })).toContain(
    "one.yaml cannot be asked, its jobs are shown as last known: 127.0.0.1:22:",
  );
});

test("at most twenty of a state are listed", () => {
  const jobs = Array.from({ length: 25 }, (_, index) => running(index + 1));
  const lines = linesOf({ jobs });
  expect(lines.filter((line) => line.startsWith("running"))).toHaveLength(20);
  expect(lines.at(-1)).toBe("… 5 more running");
});

test.each([40, 80, 120])("%i columns are never exceeded, and nothing moves the cursor", (columns) => {
  const name = `${"long".repeat(40)}.sh`;
  const odd = { name: `${name}.1`, machine: `${name}\u001b[2J.yaml` };
  const jobs = [
    { ...running(1), ...odd },
    { ...failed(2), ...odd, outcome: { kind: "lost", reason: "a\r\nb ".repeat(40) } as const },
  ];
  const unreached = [{ machine: odd.machine, reason: "no\u001b[1m answer ".repeat(20) }];
  const lastWords = new Map([[1, "\u001b[2J\u009b1A".repeat(40)]]);
  const directory = "/\u001b[1m/deep".repeat(20);
  const lines = linesOf(
    { stem: name, batch: `${name}-1a2b3c4d`, directory, jobs, unreached, lastWords },
    columns,
  );
  for (const line of lines) expect(textWidth(line)).toBeLessThanOrEqual(columns);
  expect(lines.join("\n")).not.toMatch(/[\u001b\r\u009b]/);
});

test("--json: the document's example is exactly the printed line, and safe for a terminal", () => {
  const status = aStatus({
    batch: "train.sh-4f1d2c9a",
    jobs: [
      { ...failed(2), name: "train.sh.2", machine: "my_machine.yaml", slot: 0, key: "5000000000002-2-1" },
    ],
    lastWords: new Map([[2, "KeyError: 'pos_embed'\n"]]),
  });
  const [line = ""] = statusJson(status);
  expect(DOCUMENT).toContain(`\n    ${line}\n`);
  const [hostile = ""] = statusJson(aStatus({ jobs: [{ ...running(1), machine: "a\u001b\u009b2J" }] }));
  expect(hostile).not.toMatch(/[\u0000-\u001f\u007f-\u009f]/);
  expect(JSON.parse(hostile).machine).toBe("a\u001b\u009b2J");
  expect(JSON.parse(hostile)).not.toHaveProperty("lastLine");
});

test("results that could not be collected, wholly or partly, are listed with the reason or the names", () => {
  const at = { machine: "one.yaml", slot: 0, attempt: 1, outcome: SUCCESS };
  const jobs = [
    aJob(1, { state: "succeeded", isHere: false, ...at, reason: "tar failed" }),
    aJob(2, { state: "succeeded", isHere: true, ...at, missing: ["closed/", "x"] }),
    { ...failed(3), missing: ["y"] },
  ];
  const status = aStatus({ jobs });
  expect(linesOf({ jobs }).slice(1)).toEqual([
    "2 succeeded · 1 failed · 1 of them to collect · 2 of them incomplete · 3 in all",
    "no client follows it: sshoal attach jobs.sh collects its results",
    "STATE      JOB  WHERE      TIME  WHAT",
    "failed       3  two.yaml  1m01s  exit 1; incomplete: y",
    "succeeded    1  one.yaml         not collected: tar failed",
    "succeeded    2  one.yaml         incomplete: closed/, x",
  ]);
  expect(statusJson(status).map((line) => JSON.parse(line))).toMatchObject([
    { reason: "tar failed" },
    { missing: ["closed/", "x"] },
    { missing: ["y"] },
  ]);
});
