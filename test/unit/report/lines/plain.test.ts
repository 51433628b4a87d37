import { expect, test } from "vitest";
import type { RunEvent } from "../../../../src/model/event.js";
import { createPlainReporter, type PlainOptions } from "../../../../src/report/lines/plain.js";
import {
  aGpu,
  CAPACITY,
  FAILURE,
  jobCollected,
  jobEnded,
  jobSaid,
  jobStarted,
  ready,
  SOURCES,
  SUCCESS,
  slotsWith,
  someJobs,
  started,
  teller,
  textSink,
  unreachable,
} from "../builders.js";

function shown(
  events: readonly RunEvent[],
  options: Partial<PlainOptions> = {},
): { out: string[]; err: string[] } {
  const stdout = textSink();
  const stderr = textSink();
  const usual = { ...SOURCES, machines: ["a.yaml"], isVerbose: false, useUnicode: true };
  const reporter = createPlainReporter({ ...usual, stdout, stderr, ...options });
  teller(reporter.show)(...events);
  return { out: linesOf(stdout.text), err: linesOf(stderr.text) };
}

function linesOf(text: string): string[] {
  return text.split("\n").slice(0, -1);
}

test("the lines people grep for, exactly", () => {
  const commands = ['echo "one job"', 'echo "jobs will tell you if they fail" && exit 1', "true"];
  const jobs = commands.map((command, index) => ({
    id: index + 1,
    line: index + 1,
    name: `example_batch_script.sh.${index + 1}`,
    command,
  }));
  const { out, err } = shown(
    [
      started(jobs),
      ready("my_machine.yaml", slotsWith([0], [1])),
      { kind: "job-skipped", at: 0, job: 3, outcome: null },
      jobStarted(1, "my_machine.yaml", 0),
      jobEnded(1, SUCCESS, 1000, "my_machine.yaml"),
      jobCollected(1, 0, "my_machine.yaml"),
      jobEnded(2, FAILURE),
      jobCollected(2),
    ],
    {
      machines: ["my_machine.yaml"],
      devicesOf: ({ slot }) => ({ CUDA_DEVICE_ORDER: "PCI_BUS_ID", CUDA_VISIBLE_DEVICES: String(slot) }),
    },
  );
  expect(out).toEqual([
    "machine limits:  {'my_machine.yaml': 2}",
    "machine gpu choices: [[0, 1]]",
    "WARNING: job results already exists for line 3, skipping evaluation: delete if you wish to rerun",
    'started: example_batch_script.sh.1;  export CUDA_VISIBLE_DEVICES=0 && echo "one job"',
    'finished: example_batch_script.sh.1; echo "one job"',
    'failed: example_batch_script.sh.2; echo "jobs will tell you if they fail" && exit 1',
  ]);
  expect(err).toEqual([]);
});

test("the limits wait for every machine, and keep the order in which machines were named", () => {
  const machines = ["a.yaml", "b.yaml", "c.yaml"];
  const first = [ready("c.yaml", slotsWith([], [])), unreachable("b.yaml")];
  expect(shown(first, { machines }).out).toEqual([]);
  const all = [...first, ready("a.yaml", slotsWith([2])), ready("a.yaml", slotsWith([2]))];
  expect(shown(all, { machines }).out).toEqual([
    "machine limits:  {'a.yaml': 1, 'c.yaml': 2}",
    "machine gpu choices: [[2], []]",
  ]);
});

test("a machine without room has the limit 0, one that was not measured has none", () => {
  const events = [
    { ...unreachable("a.yaml", "memory: a job needs 7000 MB"), hasNoRoom: true } as RunEvent,
    unreachable("b.yaml"),
    ready("c.yaml", slotsWith([1])),
  ];
  expect(shown(events, { machines: ["a.yaml", "b.yaml", "c.yaml"] }).out).toEqual([
    "machine limits:  {'a.yaml': 0, 'c.yaml': 1}",
    "machine gpu choices: [[], [1]]",
  ]);
});

test("slots with several cards are nested lists", () => {
  expect(shown([ready("a.yaml", slotsWith([0, 1], [2, 3]))]).out[1]).toBe(
    "machine gpu choices: [[[0, 1], [2, 3]]]",
  );
});

test.each([
  [
    "AMD cards",
    { ROCR_VISIBLE_DEVICES: "1" },
    "started: batch.sh.1;  export ROCR_VISIBLE_DEVICES=1 && echo 1",
  ],
  ["no cards", {}, "started: batch.sh.1;  echo 1"],
])("a job with %s", (_, devices, line) => {
  const events = [started(someJobs(1)), jobStarted(1, "a.yaml", 0)];
  expect(shown(events, { devicesOf: () => devices }).out).toEqual([line]);
});

test("for a command over several lines, the first line and an ellipsis", () => {
  const jobs = ["for x in 1; do\n  a\ndone", "a \\\n  b"].map((command, index) => ({
    id: index + 1,
    line: index + 1,
    name: `jobs.sh.${index + 1}`,
    command,
  }));
  const events = [started(jobs), jobStarted(1, "a.yaml", 0), jobEnded(2), jobCollected(2)];
  expect(shown(events).out).toEqual(["started: jobs.sh.1;  for x in 1; do …", "finished: jobs.sh.2; a …"]);
});

test("finished is printed when the results are collected, not before", () => {
  expect(shown([started(someJobs(1)), jobEnded(1)]).out).toEqual([]);
});

test("repeated events after a lost connection are not printed again", () => {
  const twice = [jobStarted(1, "a.yaml", 0), jobStarted(1, "a.yaml", 0)];
  const ends = [jobEnded(1), jobEnded(1), jobCollected(1), jobCollected(1)];
  expect(shown([started(someJobs(1)), ...twice, ...ends]).out).toEqual([
    "started: batch.sh.1;  echo 1",
    "finished: batch.sh.1; echo 1",
  ]);
});

test("warnings and hints go to stderr", () => {
  const { out, err } = shown(
    [
      started(someJobs(1)),
      unreachable("a.yaml"),
      { kind: "warning", at: 0, message: "the clock is off" },
      jobEnded(1, { kind: "lost", reason: "the machine rebooted" }),
      { kind: "machine-lost", at: 0, machine: "a.yaml", reason: "no answer for 30 s" },
      { kind: "machine-back", at: 0, machine: "a.yaml" },
      { kind: "interrupted", at: 0, mode: "drain" },
      { kind: "interrupted", at: 0, mode: "stop" },
      { kind: "halted", at: 0, when: "soon", why: "fail", count: 1, rule: "soon,fail=1" },
      { kind: "paused", at: 0, pid: 4711 },
      { kind: "continued", at: 0 },
    ],
    { machines: ["a.yaml", "b.yaml"] },
  );
  expect(out).toEqual([]);
  expect(err).toEqual([
    "WARNING: a.yaml is left out: connection refused",
    "try: ssh a.yaml",
    "WARNING: the clock is off",
    "WARNING: batch.sh.1 is lost on a.yaml: the machine rebooted",
    "WARNING: the link to a.yaml is lost: no answer for 30 s",
    "the link to a.yaml is back",
    "stopping: no new jobs; running jobs finish (Ctrl-C again stops them)",
    "stopping running jobs, collecting their results",
    "1 job failed: --halt soon,fail=1 lets running jobs finish",
    "paused: no new jobs, running ones continue; kill -USR2 4711 resumes",
    "resumed: waiting jobs begin again",
  ]);
});

test("output of jobs goes to the stream on which they printed it", () => {
  const said = { kind: "job-output", at: 0, job: 1, attempt: 1 } as const;
  const { out, err } = shown([
    started(someJobs(1)),
    { ...said, stream: "out", text: "one\n\ntwo\n" },
    { ...said, stream: "err", text: "no newline" },
  ]);
  expect(out).toEqual(["batch.sh.1: one", "batch.sh.1: ", "batch.sh.1: two"]);
  expect(err).toEqual(["batch.sh.1: no newline"]);
});

test.each([
  [[], "copying 120 files, 12.3 MB"],
  [[".git", "data"], "copying 120 files, 12.3 MB; left out: .git, data"],
  [["a", "b", "c", "d", "e", "f\n", "g"], "copying 120 files, 12.3 MB; left out: a, b, c, d, e and 2 more"],
])("what is sent is printed in one line (%#)", (leftOut, line) => {
  const event: RunEvent = { kind: "tree-read", at: 0, files: 120, bytes: 12_345_678, leftOut };
  expect(shown([event])).toEqual({ out: [], err: [line] });
});

test("a long copy is reported from time to time, with its rate and the time left", () => {
  const sent = (at: number, megabytes: number, machine = "a.yaml"): RunEvent => ({
    kind: "staging",
    at,
    machine,
    sentBytes: megabytes * 1e6,
    totalBytes: 100e6,
  });
  const events = [sent(0, 0), sent(1000, 2), sent(5000, 10), sent(6000, 12), sent(3e4, 60), sent(5e4, 100)];
  expect(shown(events)).toEqual({ out: [], err: [] });
  expect(shown([sent(0, 0), sent(5e4, 10), sent(6e4, 20)]).err).toEqual([
    "staging: a.yaml; 20.0 MB of 100 MB, 20%, 333 kB/s, ~4m left",
  ]);
  expect(shown([...events, sent(5e4, 0, "b.yaml")], { isVerbose: true }).err).toEqual([
    "staging: a.yaml; 10.0 MB of 100 MB, 10%, 2.0 MB/s, ~45s left",
    "staging: a.yaml; 60.0 MB of 100 MB, 60%, 2.0 MB/s, ~20s left",
  ]);
});

test("a long collection is reported in the same way", () => {
  const got = (at: number, megabytes: number): RunEvent => ({
    kind: "collecting",
    at,
    machine: "a.yaml",
    receivedBytes: megabytes * 1e6,
    totalBytes: 100e6,
  });
  expect(shown([got(0, 10), got(1000, 12), got(5000, 20)], { isVerbose: true }).err).toEqual([
    "collecting: a.yaml; 20.0 MB of 100 MB, 20%, 2.0 MB/s, ~40s left",
  ]);
});

test("details are printed with --verbose", () => {
  const events: RunEvent[] = [
    { kind: "staging", at: 0, machine: "a.yaml", sentBytes: 0, totalBytes: 12_345_678 },
    { kind: "staging", at: 0, machine: "a.yaml", sentBytes: 12_345_678, totalBytes: 12_345_678 },
    { kind: "staged", at: 0, machine: "a.yaml" },
    { kind: "staged", at: 0, machine: "b.yaml" },
    { kind: "jobs-handed-over", at: 0, machine: "a.yaml", jobs: [1, 2, 3] },
    { kind: "jobs-taken-back", at: 0, machine: "a.yaml", jobs: [3], begun: [] },
  ];
  expect(shown(events)).toEqual({ out: [], err: [] });
  expect(shown(events, { isVerbose: true })).toEqual({
    out: [],
    err: [
      "staged: a.yaml; 12.3 MB",
      "staged: b.yaml; was there already",
      "handed over: a.yaml; 3 jobs",
      "taken back: a.yaml; 1 job",
    ],
  });
});

const MINUTE = 60_000;

test("why jobs wait is printed once per change, not for every slot and every megabyte", () => {
  const waits = (at: number, slot: number, reason: string): RunEvent => ({
    kind: "slot-waiting",
    at,
    machine: "a.yaml",
    slot,
    reason,
  });
  const events = [
    ready("a.yaml", slotsWith([0], [1])),
    waits(0, 0, "memory: 7000 MB wanted, 1000 MB free"),
    waits(1, 1, "memory: 7000 MB wanted, 990 MB free"),
    waits(MINUTE, 0, "memory: 7000 MB wanted, 2000 MB free"),
    waits(2 * MINUTE, 0, `GPU ${aGpu(1).uuid}: 16384 MB wanted, 14540 MB free`),
    waits(12 * MINUTE, 0, "memory: 7000 MB wanted, 2000 MB free"),
  ];
  expect(shown(events).err).toEqual([
    "waiting: a.yaml; needs 6.8 GB of memory, 1.0 GB free",
    "waiting: a.yaml; needs 16.0 GB, card 1 has 14.2 GB free",
    "waiting: a.yaml; needs 6.8 GB of memory, 2.0 GB free",
  ]);
  expect(shown(events, { isVerbose: true }).err).toHaveLength(5);
});

test("a job of the same batch that has the card is named by its number alone", () => {
  const reason = "cards:1000:0 card:0:taken:-:b1:19 card:1:taken:-:prep.sh-01234567:3";
  const waits: RunEvent = { kind: "slot-waiting", at: 0, machine: "a.yaml", slot: 1, reason };
  const words = "card 0 runs job 19; card 1 runs prep.sh 3";
  const events = [started(someJobs(1)), waits];
  expect(shown(events).err).toEqual([`waiting: a.yaml; ${words}`]);
  expect(shown(events, { isVerbose: true }).err).toEqual([`waiting: a.yaml slot 1; ${words}`]);
});

test("no control character of a script or machine reaches the terminal", () => {
  const evil = "\x1b[2Ja\nfinished: b\x9b";
  const { out, err } = shown(
    [
      started(someJobs(1, { name: evil, command: evil })),
      unreachable(evil, evil),
      jobStarted(1, evil, 0),
      jobSaid(1, evil),
      jobEnded(1, SUCCESS, 1000, evil),
      jobCollected(1, 0, evil),
      { kind: "slot-waiting", at: 0, machine: evil, slot: 0, reason: evil },
    ],
    { isVerbose: true, devicesOf: () => ({ CUDA_VISIBLE_DEVICES: evil }) },
  );
  expect(out).toHaveLength(2);
  expect([...out, ...err].join("")).not.toMatch(/[\x00-\x1f\x7f-\x9f]/);
});

test("the summary closes the run, once", () => {
  const stdout = textSink();
  const stderr = textSink();
  const about = { ...SOURCES, machines: [], isVerbose: false, useUnicode: true };
  const reporter = createPlainReporter({ ...about, stdout, stderr });
  teller(reporter.show)(started(someJobs(1)), jobEnded(1, FAILURE), jobCollected(1));
  reporter.close();
  reporter.close();
  expect(linesOf(stdout.text)).toEqual([
    "failed: batch.sh.1; echo 1",
    "0 succeeded, 1 failed in 0s",
    "✗ 1  exit 1  a.yaml  1s",
    "Next: logs batch.sh.1 · results",
  ]);
});

test("a stopped or lost job is shown as such, not as failed", () => {
  const { out } = shown([
    started(someJobs(2)),
    jobEnded(1, { kind: "stopped" }),
    jobCollected(1),
    jobEnded(2, { kind: "lost", reason: "reboot" }),
    jobCollected(2),
  ]);
  expect(out).toEqual(["stopped: batch.sh.1; echo 1", "lost: batch.sh.2; echo 2"]);
});

test("a machine without bash is reported, once", () => {
  const told = (shell: "bash" | "sh") => {
    const about = { kind: "machine-ready", machine: "a.yaml", slots: slotsWith([0]), at: 0 } as const;
    return shown([started(someJobs(1)), { ...about, capacity: { ...CAPACITY, shell } }]).err;
  };
  expect(told("sh")).toEqual(["WARNING: a.yaml has no bash: jobs run under sh"]);
  expect(told("bash")).toEqual([]);
});
