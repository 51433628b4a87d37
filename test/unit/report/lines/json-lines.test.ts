import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import type { RunEvent } from "../../../../src/model/event.js";
import { createJsonReporter } from "../../../../src/report/lines/json-lines.js";
import {
  aGpu,
  CAPACITY,
  FAILURE,
  jobStarted,
  SETTINGS,
  SUCCESS,
  someJobs,
  started,
  teller,
  textSink,
} from "../builders.js";

const DOCUMENT = readFileSync(new URL("../../../../docs/json-events.md", import.meta.url), "utf8");
const NEVER_PRINTED = ["job-said", "machine-quiet"] as const;
const AT = 1760000000000;
const HOME = { machine: "my_machine.yaml" };
const JOBS = [
  { id: 1, line: 1, name: "train.sh.1", command: "python train.py --seed 1" },
  { id: 2, line: 2, name: "train.sh.2", command: "python train.py --seed 2" },
];
const RECORDED = { name: "my_machine.yaml", address: { kind: "local" as const }, scratch: null, file: null };
const GPU = aGpu(0);

/** One of each kind: a new kind does not compile until it is here, and fails until it is in the document. */
const EVERY_KIND: { [K in RunEvent["kind"]]: Extract<RunEvent, { kind: K }> } = {
  "run-started": {
    kind: "run-started",
    at: AT,
    sshoal: "0.4.0",
    spoolFormat: 3,
    batch: "4f1d2c9a",
    script: "train.sh",
    jobs: JOBS,
    machines: [RECORDED],
    settings: SETTINGS,
  },
  "jobs-added": {
    kind: "jobs-added",
    at: AT,
    jobs: [{ id: 3, line: 3, name: "gpu.queue.3", command: "python train.py --seed 3" }],
    position: { file: "2049:1234", offset: 75, lines: 3, digest: "0f343b0931126a20" },
  },
  "job-refused": {
    kind: "job-refused",
    at: AT,
    line: 4,
    reason: '--gpus-per-job takes a number above 0 with at most three decimals, got "x"',
  },
  "machine-serves": {
    kind: "machine-serves",
    at: AT,
    machine: "my_machine.yaml",
    kinds: ["1_7000_@licence@1"],
  },
  "jobs-left-out": {
    kind: "jobs-left-out",
    at: AT,
    jobs: [3],
    reasons: [
      {
        machine: "my_machine.yaml",
        reason: "licence: a job needs 1, the machine file declares none (resources:)",
      },
    ],
  },
  "results-moved": { kind: "results-moved", at: AT },
  "jobs-complete": { kind: "jobs-complete", at: AT },
  "run-resumed": {
    kind: "run-resumed",
    at: AT,
    done: 12,
    running: 4,
    waiting: 30,
    machines: ["my_machine.yaml"],
    held: { "my_machine.yaml": [13, 14] },
  },
  "job-blocked": { kind: "job-blocked", at: AT, job: 2, by: 1, when: "succeeded", turnout: "failed" },
  "job-skipped": { kind: "job-skipped", at: AT, job: 1, outcome: SUCCESS },
  "job-reopened": { kind: "job-reopened", at: AT, job: 1 },
  "job-replaced": { kind: "job-replaced", at: AT, job: 2 },
  "machine-ready": {
    kind: "machine-ready",
    at: AT,
    ...HOME,
    capacity: { ...CAPACITY, gpus: [GPU] },
    slots: [{ index: 0, gpus: [GPU] }],
    kinds: ["-"],
  },
  "machine-failed": {
    kind: "machine-failed",
    at: AT,
    ...HOME,
    reason: "connection refused",
    hint: "try: ssh my_machine",
  },
  "machine-set-aside": {
    kind: "machine-set-aside",
    at: AT,
    ...HOME,
    jobs: [2, 4, 7],
    outcome: FAILURE,
    stderrTail: "ImportError: libcudart.so.12: cannot open shared object file\n",
  },
  "same-crash": {
    kind: "same-crash",
    at: AT,
    jobs: [1, 2, 3],
    outcome: FAILURE,
    stderrTail:
      "Traceback (most recent call last):\n  File \"train.py\", line 7, in <module>\nKeyError: 'lr'\n",
    action: "halt",
  },
  "machine-refused": {
    kind: "machine-refused",
    at: AT,
    ...HOME,
    jobs: [2],
    reason: "handing over failed: No space left on device",
    hint: "free space on the machine",
  },
  "machine-draining": { kind: "machine-draining", at: AT, ...HOME },
  "machine-opened": { kind: "machine-opened", at: AT, ...HOME },
  "machine-lost": { kind: "machine-lost", at: AT, ...HOME, reason: "no answer for 30 s" },
  "machine-back": { kind: "machine-back", at: AT, ...HOME },
  "machine-quiet": { kind: "machine-quiet", at: AT, ...HOME, since: AT },
  "machine-done": { kind: "machine-done", at: AT, ...HOME },
  "tree-read": { kind: "tree-read", at: AT, files: 120, bytes: 5242880, leftOut: [".git", "data"] },
  staging: { kind: "staging", at: AT, ...HOME, sentBytes: 1048576, totalBytes: 5242880 },
  staged: { kind: "staged", at: AT, ...HOME },
  "jobs-assigned": { kind: "jobs-assigned", at: AT, ...HOME, jobs: [1, 2], attempts: [1, 1] },
  "jobs-handed-over": { kind: "jobs-handed-over", at: AT, ...HOME, jobs: [1, 2] },
  "jobs-taken-back": { kind: "jobs-taken-back", at: AT, ...HOME, jobs: [2], begun: [1] },
  "jobs-gone": { kind: "jobs-gone", at: AT, ...HOME, jobs: [2] },
  "jobs-reassigned": { kind: "jobs-reassigned", at: AT, ...HOME, jobs: [2] },
  "jobs-retried": { kind: "jobs-retried", at: AT, ...HOME, jobs: [2] },
  "job-grown": {
    kind: "job-grown",
    at: AT,
    job: 2,
    attempt: 1,
    ...HOME,
    outcome: { kind: "killed", signal: "SIGKILL", cause: "out-of-memory" },
    before: { cpus: 1, memoryMb: 2000, gpu: null, reservesMachine: false },
    requirement: { cpus: 1, memoryMb: 4000, gpu: null, reservesMachine: false },
    prefers: "my_machine.yaml",
  },
  "slot-waiting": { kind: "slot-waiting", at: AT, ...HOME, slot: 0, reason: "GPU 0 is in use" },
  "job-started": {
    kind: "job-started",
    at: AT,
    job: 2,
    attempt: 1,
    ...HOME,
    slot: 0,
    startedAt: AT - 12_000,
    gpus: ["0"],
    resources: { nvme: ["fast"] },
  },
  "job-resumes": {
    kind: "job-resumes",
    at: AT,
    job: 2,
    attempt: 2,
    ...HOME,
    from: "copy",
    copy: "train.sh.2.old-1",
  },
  "job-said": { kind: "job-said", at: AT, job: 2, text: "epoch 1" },
  "job-output": { kind: "job-output", at: AT, job: 2, attempt: 1, stream: "out", text: "epoch 1\n" },
  "output-restarted": { kind: "output-restarted", at: AT, job: 2, attempt: 1, stream: "out", kept: 812 },
  "job-ended": {
    kind: "job-ended",
    at: AT,
    job: 2,
    attempt: 1,
    ...HOME,
    outcome: FAILURE,
    durationMs: 61250,
    stderrTail:
      "Traceback (most recent call last):\n  File \"train.py\", line 7, in <module>\nKeyError: 'lr'\n",
  },
  collecting: { kind: "collecting", at: AT, ...HOME, receivedBytes: 104857600, totalBytes: 2097152000 },
  "jobs-arrived": { kind: "jobs-arrived", at: AT, ...HOME, jobs: [2], attempts: [1] },
  "job-stuck": { kind: "job-stuck", at: AT, job: 2, attempt: 1, ...HOME, reason: "tar failed" },
  "job-collected": {
    kind: "job-collected",
    at: AT,
    job: 2,
    attempt: 1,
    ...HOME,
    outcome: FAILURE,
    files: 3,
    bytes: 40960,
  },
  "rest-collected": {
    kind: "rest-collected",
    at: AT,
    job: 2,
    attempt: 1,
    ...HOME,
    files: 1,
    bytes: 4096,
    missing: ["logs/"],
  },
  "dirs-kept": {
    kind: "dirs-kept",
    at: AT,
    ...HOME,
    jobs: [2],
    bytes: 1258291200,
  },
  "old-results-removed": { kind: "old-results-removed", at: AT, count: 12, bytes: 3435973 },
  warning: { kind: "warning", at: AT, message: "my_machine.yaml: the link was lost, attaching again" },
  "jobs-stopping": { kind: "jobs-stopping", at: AT, jobs: [2] },
  "jobs-resumed": { kind: "jobs-resumed", at: AT, jobs: [2] },
  interrupted: { kind: "interrupted", at: AT, mode: "drain" },
  halted: { kind: "halted", at: AT, when: "soon", why: "fail", count: 3, rule: "soon,fail=3" },
  paused: { kind: "paused", at: AT, pid: 4711 },
  continued: { kind: "continued", at: AT },
  "run-ended": {
    kind: "run-ended",
    at: AT + 125_000,
    counts: { succeeded: 1, failed: 1, stopped: 0, lost: 0, unfinished: 0, skipped: 1 },
  },
};

function printed(events: readonly RunEvent[]): string[] {
  const stdout = textSink();
  const reporter = createJsonReporter(stdout);
  teller(reporter.show)(...events);
  reporter.close();
  return stdout.text.split("\n").slice(0, -1);
}

test("every kind is in the document, with exactly the printed line as its example", () => {
  for (const kind of Object.keys(EVERY_KIND)) expect(DOCUMENT).toContain(`### ${kind}\n`);
  for (const line of printed(Object.values(EVERY_KIND))) expect(DOCUMENT).toContain(`\n    ${line}\n`);
});

test("the document has no kinds that do not exist", () => {
  const documented = [...DOCUMENT.matchAll(/^### (.+)$/gm)].map(([, kind]) => kind);
  expect(documented.sort()).toEqual(Object.keys(EVERY_KIND).sort());
});

test.each(NEVER_PRINTED)("%s is not printed", (kind) => {
  expect(printed([started(someJobs(1)), EVERY_KIND[kind]])).toHaveLength(1);
});

test("the reason of a waiting slot names jobs of the same batch by their numbers alone", () => {
  const reason = "cards:1000:0 card:0:taken:-:b1:19";
  const [, line] = printed([
    started(someJobs(1)),
    { kind: "slot-waiting", at: AT, machine: "a", slot: 0, reason },
  ]);
  expect(JSON.parse(line ?? "")).toMatchObject({ reason: "card 0 runs job 19" });
});

test("events of a job have its id and name, and the number of its run", () => {
  const [, line] = printed([started(someJobs(1)), jobStarted(1, "a.yaml", 0)]);
  expect(JSON.parse(line ?? "")).toEqual({
    v: 2,
    kind: "job-started",
    at: 0,
    name: "batch.sh.1",
    job: 1,
    attempt: 1,
    run: 1,
    machine: "a.yaml",
    slot: 0,
  });
});

test("an event is one line, safe for a terminal, with the same meaning", () => {
  const message = "a\nb\x1b[2J\x7f\x9b31m";
  const [line] = printed([{ kind: "warning", at: 0, message }]);
  expect(line).not.toMatch(/[\x00-\x1f\x7f-\x9f]/);
  expect(JSON.parse(line ?? "").message).toBe(message);
});
