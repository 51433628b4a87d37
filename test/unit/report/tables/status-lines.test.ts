import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import type { BatchStatus, JobStatus } from "../../../../src/model/batch-status.js";
import { statusJson, statusLines } from "../../../../src/report/tables/status-lines.js";
import { textWidth } from "../../../../src/report/text/width.js";
import { FAILURE, SUCCESS } from "../builders.js";

const DOCUMENT = readFileSync(new URL("../../../../docs/json-events.md", import.meta.url), "utf8");

function aJob(line: number, facts: Partial<JobStatus> = {}): JobStatus {
  const nowhere = { machine: null, slot: null, attempt: 0, startedAt: null, elapsedMs: null, key: null };
  const open = { outcome: null, isHere: false };
  return { job: line, name: `jobs.sh.${line}`, line, state: "waiting", ...nowhere, ...open, ...facts };
}

function aStatus(facts: Partial<BatchStatus> = {}): BatchStatus {
  return {
    batch: "jobs.sh-1a2b3c4d",
    jobs: [],
    follower: null,
    command: "sshoal attach jobs.sh",
    unreached: [],
    isAtWork: false,
    elapsedMs: 65_000,
    timeLeftMs: null,
    ...facts,
  };
}

const running = (line: number, slot = 0) =>
  aJob(line, { state: "running", machine: "one.yaml", slot, attempt: 1, startedAt: 1, elapsedMs: 62_000 });
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

test("the counts, the follower, and the running and failed jobs with their machines", () => {
  const jobs = [done(1), failed(2), running(3), running(10, 12), aJob(11), aJob(12, { machine: "one.yaml" })];
  jobs[2] = { ...running(3), elapsedMs: 9000 };
  const times = { isAtWork: true, elapsedMs: 65_000, timeLeftMs: 122_000 };
  expect(statusLines(aStatus({ jobs, follower: "process 1234", ...times }), 90)).toEqual([
    "jobs.sh-1a2b3c4d: 1 succeeded, 1 failed, 2 running, 2 waiting; 1m05s so far, ~2m left",
    "  followed by process 1234",
    "  running:",
    "    jobs.sh.3   one.yaml slot 0      9s",
    "    jobs.sh.10  one.yaml slot 12  1m02s",
    "  failed:",
    "    jobs.sh.2  two.yaml slot 1  1m01s  exit code 1",
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
  expect(statusLines(aStatus({ jobs: ended }))).toEqual([
    "jobs.sh-1a2b3c4d: 1 succeeded, 1 failed, 2 of them to collect; took 1m05s",
    "  no client follows it: sshoal attach jobs.sh resumes it",
    "  failed:",
    "    jobs.sh.2  one.yaml slot 0  killed by SIGKILL",
  ]);
});

test("a batch with all results collected needs no client; results without a record count as skipped", () => {
  const jobs = [done(1), aJob(2, { state: "skipped", isHere: true })];
  expect(statusLines(aStatus({ jobs }))).toEqual(["jobs.sh-1a2b3c4d: 1 succeeded, 1 skipped; took 1m05s"]);
});

test("stopped and lost jobs are counted and listed separately, with their ends", () => {
  const about = { machine: "one.yaml", slot: 0, isHere: true };
  const jobs = [
    aJob(1, { state: "stopped", outcome: { kind: "stopped" }, ...about }),
    aJob(2, { state: "lost", outcome: { kind: "lost", reason: "reboot" }, ...about }),
  ];
  const [head, ...lines] = statusLines(aStatus({ jobs }));
  expect(head).toBe("jobs.sh-1a2b3c4d: 0 succeeded, 1 stopped, 1 lost; took 1m05s");
  expect(lines).toEqual([
    "  the same command, or sshoal retry --state stopped, runs stopped jobs again",
    "  stopped:",
    "    jobs.sh.1  one.yaml slot 0  stopped",
    "  lost:",
    "    jobs.sh.2  one.yaml slot 0  lost: reboot",
  ]);
});

test("one line if it fits", () => {
  const short = { batch: "j-1a2b3c4d", jobs: [running(1)], isAtWork: true, elapsedMs: 9000 };
  expect(statusLines(aStatus({ ...short, follower: "process 1" }))[0]).toBe(
    "j-1a2b3c4d: 0 succeeded, 1 running; 9s so far; followed by process 1",
  );
  expect(statusLines(aStatus(short), 110)[0]).toBe(
    "j-1a2b3c4d: 0 succeeded, 1 running; 9s so far; no client follows it: sshoal attach jobs.sh resumes it",
  );
});

test("a machine that could not be asked is named", () => {
  const unreached = [{ machine: "one.yaml", reason: "127.0.0.1:22: connection refused" }];
  expect(statusLines(aStatus({ jobs: [running(1)], follower: "process 1", unreached }))).toContain(
    "  one.yaml cannot be asked, its jobs are shown as last known: 127.0.0.1:22:",
  );
});

test("at most twenty of a kind are listed", () => {
  const jobs = Array.from({ length: 25 }, (_, index) => running(index + 1));
  const lines = statusLines(aStatus({ jobs }));
  expect(lines.filter((line) => line.includes("one.yaml"))).toHaveLength(20);
  expect(lines.at(-1)).toBe("    … and 5 more");
});

test.each([40, 80, 120])("%i columns are never exceeded, and nothing moves the cursor", (columns) => {
  const name = `${"long".repeat(40)}.sh`;
  const odd = { name: `${name}.1`, machine: `${name}\u001b[2J.yaml` };
  const jobs = [
    { ...running(1), ...odd },
    { ...failed(2), ...odd, outcome: { kind: "lost", reason: "a\r\nb ".repeat(40) } as const },
  ];
  const unreached = [{ machine: odd.machine, reason: "no\u001b[1m answer ".repeat(20) }];
  const lines = statusLines(aStatus({ batch: `${name}-1a2b3c4d`, jobs, unreached }), columns);
  for (const line of lines) expect(textWidth(line)).toBeLessThanOrEqual(columns);
  expect(lines.join("\n")).not.toMatch(/[\u001b\r]/);
});

test("--json: the document's example is exactly the printed line, and safe for a terminal", () => {
  const status = aStatus({
    batch: "train.sh-4f1d2c9a",
    jobs: [
      { ...failed(2), name: "train.sh.2", machine: "my_machine.yaml", slot: 0, key: "5000000000002-2-1" },
    ],
  });
  const [line = ""] = statusJson(status);
  expect(DOCUMENT).toContain(`\n    ${line}\n`);
  const [hostile = ""] = statusJson(aStatus({ jobs: [{ ...running(1), machine: "a\u001b\u009b2J" }] }));
  expect(hostile).not.toMatch(/[\u0000-\u001f\u007f-\u009f]/);
  expect(JSON.parse(hostile).machine).toBe("a\u001b\u009b2J");
});

test("results that could not be collected, wholly or partly, are listed with the reason or the names", () => {
  const at = { machine: "one.yaml", slot: 0, attempt: 1, outcome: SUCCESS };
  const jobs = [
    aJob(1, { state: "succeeded", isHere: false, ...at, reason: "tar failed" }),
    aJob(2, { state: "succeeded", isHere: true, ...at, missing: ["closed/", "x"] }),
  ];
  const status = aStatus({ jobs });
  expect(statusLines(status)).toEqual([
    "jobs.sh-1a2b3c4d: 2 succeeded, 1 of them to collect, 1 of them incomplete",
    "  took 1m05s; no client follows it: sshoal attach jobs.sh resumes it",
    "  not collected:",
    "    jobs.sh.1  one.yaml slot 0  tar failed",
    "  incomplete:",
    "    jobs.sh.2  one.yaml slot 0  closed/, x",
  ]);
  expect(statusJson(status).map((line) => JSON.parse(line))).toMatchObject([
    { reason: "tar failed" },
    { missing: ["closed/", "x"] },
  ]);
});
