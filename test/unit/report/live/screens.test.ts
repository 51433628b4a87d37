// Whole screens of one sweep: 30 jobs on three machines, with failures, a silent job and an unreachable machine.

import { stripVTControlCharacters } from "node:util";
import { expect, test } from "vitest";
import type { RunEvent } from "../../../../src/model/event.js";
import type { Job } from "../../../../src/model/job.js";
import { frameLines } from "../../../../src/report/live/frame.js";
import { lookOf } from "../../../../src/report/live/styled-text.js";
import { textWidth } from "../../../../src/report/text/width.js";
import {
  FAILURE,
  jobCollected,
  jobEnded,
  jobSaid,
  jobStarted,
  ready,
  slotsWith,
  started,
  viewOf,
} from "../builders.js";

const MINUTE = 60_000;
const NOW = 20 * MINUTE;
const ago = (minutes: number, seconds: number) => NOW - minutes * MINUTE - seconds * 1000;

const RATES = ["1e-3", "3e-4", "1e-4"];
const JOBS: Job[] = Array.from({ length: 30 }, (_, index) => ({
  id: index + 1,
  line: null,
  name: `sweep-d43839.${index + 1}`,
  command: "python train.py",
  parameters: { lr: RATES[index % 3] ?? "", bs: String(64 << (index % 4)), opt: "adamw" },
}));

const SAID_AT: Readonly<Record<number, number>> = { 16: ago(4, 0) };

const runs = (job: number, machine: string, slot: number, at: number, text?: string): RunEvent[] => [
  jobStarted(job, machine, slot, at),
  ...(text === undefined ? [] : [{ ...jobSaid(job, text), at: SAID_AT[job] ?? NOW }]),
];
const fails = (job: number, machine: string, durationMs: number): RunEvent[] => [
  jobStarted(job, machine, 0, 0),
  jobEnded(job, FAILURE, durationMs, machine),
  jobCollected(job, 0, machine),
];

const WORDS: Readonly<Record<number, string>> = {
  7: "Traceback (most recent call last):\nKeyError: 'pos_embed'\n",
  12: "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.50 GiB\n",
};

const EVENTS: RunEvent[] = [
  { ...started(JOBS), script: "sweep.sh" } as RunEvent,
  ready("gpu1", slotsWith([0], [1], [2], [3])),
  ready("gpu2", slotsWith([0], [1])),
  ready("cpu1", slotsWith([])),
  ...[1, 2, 3, 4, 5, 6, 8, 9, 10, 11, 13].flatMap((job) => [
    jobEnded(job, undefined, 3 * MINUTE, "gpu1"),
    jobCollected(job, 0, "gpu1"),
  ]),
  ...fails(7, "gpu2", 42_000),
  ...fails(12, "gpu2", 238_000),
  { kind: "jobs-handed-over", at: 0, machine: "gpu2", jobs: [17] },
  { kind: "jobs-handed-over", at: 0, machine: "gpu1", jobs: [21, 22, 23, 24, 25, 26, 27, 28, 29, 30] },
  {
    kind: "slot-waiting",
    at: 0,
    machine: "gpu2",
    slot: 1,
    reason: "GPU GPU-1: 16384 MB wanted, 14540 MB free",
  },
  ...runs(14, "gpu1", 0, ago(4, 12), "epoch 20/30 loss 0.488"),
  ...runs(15, "gpu1", 1, ago(3, 50), "\x1b[32mepoch 26/30\x1b[0m loss 0.359"),
  ...runs(16, "gpu1", 2, ago(9, 3), "epoch 19/30 loss 0.602"),
  ...runs(18, "gpu1", 3, ago(1, 37)),
  ...runs(19, "gpu2", 0, ago(2, 10), "epoch 17/30 loss 0.585"),
  ...runs(20, "cpu1", 0, ago(6, 41), "81% 41.2k/s"),
  { kind: "machine-lost", at: ago(1, 20), machine: "cpu1", reason: "no answer" },
];

function screen(
  columns: number,
  rows: number,
  { useColour = false, useUnicode = true, events = EVENTS } = {},
): string[] {
  const view = viewOf(["gpu1", "gpu2", "cpu1"], events, { lastWordsOf: ({ id }) => WORDS[id] ?? "" });
  return frameLines(view, { columns, rows, now: NOW, look: lookOf({ useColour, useUnicode }) });
}

test("80 by 24: every job by its parameters, with its place, time and last output", () => {
  expect(screen(80, 24)).toEqual([
    "sweep.sh  ━━━━━━━━━━━━━━━╳╳╍╍╍╍╍╍╍╍───────────────  13/30 · 20m00s · ~5m left",
    "11 succeeded · 2 failed · 6 running · 11 waiting",
    "",
    "gpu1  4/4 busy",
    "gpu2  1/2 busy  waits: needs 16.0 GB, card 1 has 14.2 GB free",
    "cpu1  unreachable for 1m20s, trying again; its job continues: no answer",
    "",
    "✗  7  gpu2:0     42s  exit 1          KeyError: 'pos_embed'",
    "✗ 12  gpu2:0   3m58s  GPU memory      Tried to allocate 2.50 GiB",
    "",
    "● 14  gpu1:0   4m12s  lr 3e-4 bs 128  epoch 20/30 loss 0.488",
    "● 15  gpu1:1   3m50s  lr 1e-4 bs 256  epoch 26/30 loss 0.359",
    "! 16  gpu1:2   9m03s  lr 1e-3 bs 512  no output for 4m: epoch 19/30 loss 0.602",
    "● 18  gpu1:3   1m37s  lr 1e-4 bs 128",
    "● 19  gpu2:0   2m10s  lr 1e-3 bs 256  epoch 17/30 loss 0.585",
    "● 20  cpu1     6m41s  lr 3e-4 bs 512  last seen 1m20s ago: 81% 41.2k/s",
    "○ 17  waits   20m00s  gpu2: needs 16.0 GB, card 1 has 14.2 GB free",
    "○ 21  waits   20m00s  gpu1: 4 of 4 busy",
    "○ 9 more wait",
    "",
    "Ctrl-C: no new jobs, running ones finish; closing this window stops nothing",
  ]);
});

test("140 by 40: also the progress of each job, parameters that do not vary, and the last successes", () => {
  expect(screen(140, 40)).toEqual([
    "sweep.sh  ━━━━━━━━━━━━━━━━━━━━━━╳╳╳╳╍╍╍╍╍╍╍╍╍╍╍╍──────────────────────  13/30 · 20m00s · ~5m left",
    "11 succeeded · 2 failed · 6 running · 11 waiting",
    "",
    "gpu1  4/4 busy  8 cores  63 GB",
    "gpu2  1/2 busy  8 cores  63 GB  waits: needs 16.0 GB, card 1 has 14.2 GB free",
    "cpu1  unreachable for 1m20s, trying again; its job continues: no answer",
    "",
    "✗  7  gpu2:0     42s        exit 1                    KeyError: 'pos_embed'",
    "✗ 12  gpu2:0   3m58s        GPU memory                Tried to allocate 2.50 GiB",
    "",
    "● 14  gpu1:0   4m12s   ~2m  lr 3e-4 bs 128 opt adamw   67% ━━━━━━━───  epoch 20/30 loss 0.488",
    "● 15  gpu1:1   3m50s  ~40s  lr 1e-4 bs 256 opt adamw   87% ━━━━━━━━━─  epoch 26/30 loss 0.359",
    "! 16  gpu1:2   9m03s     ?  lr 1e-3 bs 512 opt adamw   63% ━━━━━━────  no output for 4m: epoch 19/30 loss 0.602",
    "● 18  gpu1:3   1m37s        lr 1e-4 bs 128 opt adamw",
    "● 19  gpu2:0   2m10s   ~2m  lr 1e-3 bs 256 opt adamw   57% ━━━━━━────  epoch 17/30 loss 0.585",
    "● 20  cpu1     6m41s   ~2m  lr 3e-4 bs 512 opt adamw   81% ━━━━━━━━──  last seen 1m20s ago: 81% 41.2k/s",
    "○ 17  waits   20m00s        gpu2: needs 16.0 GB, card 1 has 14.2 GB free",
    "○ 21  waits   20m00s        gpu1: 4 of 4 busy",
    "○ 9 more wait",
    "✓ 13  gpu1     3m00s        lr 1e-3 bs 64",
    "✓ 11  gpu1     3m00s        lr 3e-4 bs 256",
    "✓ 10  gpu1     3m00s        lr 1e-3 bs 128",
    "✓  9  gpu1     3m00s        lr 1e-4 bs 64",
    "✓  8  gpu1     3m00s        lr 3e-4 bs 512",
    "",
    "Ctrl-C: no new jobs, running ones finish; closing this window stops nothing",
  ]);
});

test("60 by 24: the last lines are cut", () => {
  expect(screen(60, 24)).toEqual([
    "sweep.sh  ━━━━━━━━╳╳╍╍╍╍╍────────  13/30 · 20m00s · ~5m left",
    "11 succeeded · 2 failed · 6 running · 11 waiting",
    "",
    "gpu1  4/4 busy",
    "gpu2  1/2 busy  waits: needs 16.0 GB, card 1 has 14.2 GB fr…",
    "cpu1  unreachable for 1m20s, trying again; its job continue…",
    "",
    "✗  7  gpu2:0     42s  exit 1          KeyError: 'pos_embed'",
    "✗ 12  gpu2:0   3m58s  GPU memory      Tried to allocate 2.5…",
    "",
    "● 14  gpu1:0   4m12s  lr 3e-4 bs 128  epoch 20/30 loss 0.488",
    "● 15  gpu1:1   3m50s  lr 1e-4 bs 256  epoch 26/30 loss 0.359",
    "! 16  gpu1:2   9m03s  lr 1e-3 bs 512  no output for 4m: epo…",
    "● 18  gpu1:3   1m37s  lr 1e-4 bs 128",
    "● 19  gpu2:0   2m10s  lr 1e-3 bs 256  epoch 17/30 loss 0.585",
    "● 20  cpu1     6m41s  lr 3e-4 bs 512  last seen 1m20s ago: …",
    "○ 17  waits   20m00s  gpu2: needs 16.0 GB, card 1 has 14.2 …",
    "○ 21  waits   20m00s  gpu1: 4 of 4 busy",
    "○ 9 more wait",
    "",
    "Ctrl-C: no new jobs, running ones finish; closing this wind…",
  ]);
});

test("50 by 14: one line per job, reasons before parameters, and numbers instead of long lists", () => {
  expect(screen(50, 14)).toEqual([
    "sweep.sh  ━━━━━╳╍╍─────  13/30 · 20m00s · ~5m left",
    "11 succeeded · 2 failed · 6 running · 11 waiting",
    "gpu1  4/4 busy",
    "gpu2  1/2 busy  waits: needs 16.0 GB, card 1 has …",
    "cpu1  unreachable for 1m20s, trying again; its jo…",
    "✗ 2 failed",
    "● 14  gpu1:0   4m12s  lr 3e-4 bs 128",
    "● 15  gpu1:1   3m50s  lr 1e-4 bs 256",
    "! 16  gpu1:2   9m03s  no output for 4m: epoch 19/…",
    "● 18  gpu1:3   1m37s  lr 1e-4 bs 128",
    "… 2 more running",
    "○ 11 wait",
    "Ctrl-C: no new jobs, running ones finish; closing…",
  ]);
});

test("without Unicode, in ASCII signs", () => {
  const lines = screen(80, 24, { useUnicode: false });
  expect(lines).toEqual([
    "sweep.sh  ===============xx--------...............  13/30, 20m00s, ~5m left",
    "11 succeeded, 2 failed, 6 running, 11 waiting",
    "",
    "gpu1  4/4 busy",
    "gpu2  1/2 busy  waits: needs 16.0 GB, card 1 has 14.2 GB free",
    "cpu1  unreachable for 1m20s, trying again; its job continues: no answer",
    "",
    "x  7  gpu2:0     42s  exit 1          KeyError: 'pos_embed'",
    "x 12  gpu2:0   3m58s  GPU memory      Tried to allocate 2.50 GiB",
    "",
    "* 14  gpu1:0   4m12s  lr 3e-4 bs 128  epoch 20/30 loss 0.488",
    "* 15  gpu1:1   3m50s  lr 1e-4 bs 256  epoch 26/30 loss 0.359",
    "! 16  gpu1:2   9m03s  lr 1e-3 bs 512  no output for 4m: epoch 19/30 loss 0.602",
    "* 18  gpu1:3   1m37s  lr 1e-4 bs 128",
    "* 19  gpu2:0   2m10s  lr 1e-3 bs 256  epoch 17/30 loss 0.585",
    "* 20  cpu1     6m41s  lr 3e-4 bs 512  last seen 1m20s ago: 81% 41.2k/s",
    ". 17  waits   20m00s  gpu2: needs 16.0 GB, card 1 has 14.2 GB free",
    ". 21  waits   20m00s  gpu1: 4 of 4 busy",
    ". 9 more wait",
    "",
    "Ctrl-C: no new jobs, running ones finish; closing this window stops nothing",
  ]);
});

test("NO_COLOR: the same signs and words, without escape sequences", () => {
  const plain = screen(140, 40);
  expect(plain.join("")).not.toContain("\x1b");
  const coloured = screen(140, 40, { useColour: true });
  expect(coloured.map(stripVTControlCharacters)).toEqual(plain);
  expect(coloured.join("")).toContain("\x1b[33m!");
});

test("many failures: the newest are listed, the others counted, and the running jobs stay", () => {
  const many = Array.from({ length: 11 }, (_, index) => fails(index + 1, "gpu2", 1000)).flat();
  const events = [...EVENTS.slice(0, 4), ...many, ...EVENTS.slice(-13)];
  const lines = screen(80, 24, { events });
  expect(lines).toEqual([
    "sweep.sh  ╳╳╳╳╳╳╳╳╳╳╳╳╳╳╳╍╍╍╍╍╍╍╍─────────────────  11/30 · 20m00s · ~5s left",
    "0 succeeded · 11 failed · 6 running · 13 waiting",
    "",
    "gpu1  4/4 busy",
    "gpu2  1/2 busy  waits: needs 16.0 GB, card 1 has 14.2 GB free",
    "cpu1  unreachable for 1m20s, trying again; its job continues: no answer",
    "",
    "✗ 7 more failed",
    "✗  8  gpu2:0      1s  exit 1",
    "✗  9  gpu2:0      1s  exit 1",
    "✗ 10  gpu2:0      1s  exit 1",
    "✗ 11  gpu2:0      1s  exit 1",
    "",
    "● 14  gpu1:0   4m12s  lr 3e-4 bs 128  epoch 20/30 loss 0.488",
    "● 15  gpu1:1   3m50s  lr 1e-4 bs 256  epoch 26/30 loss 0.359",
    "! 16  gpu1:2   9m03s  lr 1e-3 bs 512  no output for 4m: epoch 19/30 loss 0.602",
    "● 18  gpu1:3   1m37s  lr 1e-4 bs 128",
    "● 19  gpu2:0   2m10s  lr 1e-3 bs 256  epoch 17/30 loss 0.585",
    "● 20  cpu1     6m41s  lr 3e-4 bs 512  last seen 1m20s ago: 81% 41.2k/s",
    "○ 12  waits   20m00s  no machine has room for it now",
    "○ 12 more wait",
    "",
    "Ctrl-C: no new jobs, running ones finish",
  ]);
  for (const line of lines) expect(textWidth(line)).toBeLessThanOrEqual(80);
});
