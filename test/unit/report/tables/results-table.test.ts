import { expect, test } from "vitest";
import type { ResultTable } from "../../../../src/model/result.js";
import { resultsJson } from "../../../../src/report/tables/results-json.js";
import { resultLines } from "../../../../src/report/tables/results-table.js";
import { findColumn } from "../../../../src/results/columns.js";
import { aRow, aTable } from "../../results/a-row.js";

test("one line per job, numbers aligned right", () => {
  const table = aTable(
    aRow({ parameters: { lr: "0.1", opt: "adam" }, metrics: { acc: 0.9123456789 } }),
    aRow({
      job: 12,
      state: "failed",
      parameters: { lr: "1e-4", opt: "sgd" },
      metrics: { acc: 7 },
      slot: 11,
    }),
    aRow({
      job: 13,
      state: "waiting",
      machine: null,
      slot: null,
      durationMs: null,
      parameters: { lr: "5" },
    }),
  );
  expect(resultLines(table, null)).toEqual([
    "sweep-1: 1 succeeded, 1 failed, 1 waiting",
    "job  state        lr  opt        acc  seconds  machine  slot",
    "  1  succeeded   0.1  adam  0.912346      1.5  gpu1        0",
    " 12  failed     1e-4  sgd          7      1.5  gpu1       11",
    " 13  waiting       5  -            -        -  -           -",
  ]);
});

test("a job that no machine can ever run does not wait", () => {
  const leftOut = [{ machine: "gpu1", reason: "licence: a job needs 1, the machine has 0.5" }];
  const rest = { state: "waiting", machine: null, slot: null, durationMs: null, command: "true" } as const;
  const rows = [aRow({ ...rest, leftOut }), aRow({ ...rest, job: 2 })];
  expect(resultLines(aTable(...rows), null)).toEqual([
    "sweep-1: 1 waiting, 1 left out",
    "job  state     seconds  machine  slot  command",
    "  1  left out        -        -     -  true",
    "  2  waiting         -        -     -  true",
  ]);
  const [line = ""] = resultsJson(aTable(...rows));
  expect(JSON.parse(line)).toMatchObject({ state: "waiting", leftOut });
});

test("a script's jobs are shown by their commands, which get the remaining room", () => {
  const rows = [aRow({ command: `echo ${"x".repeat(100)}`, attempt: 2 })];
  const lines = resultLines(aTable(...rows), null, 70);
  expect(lines).toEqual([
    "sweep-1: 1 succeeded",
    "job  state      seconds  machine  slot  attempt  command",
    "  1  succeeded      1.5  gpu1        0        2  echo xxxxxxxxxxxxxxx…",
  ]);
});

test("what was measured of a job is shown, if it was of any", () => {
  const measured = aRow({ footprint: { memoryMb: 1830, cpuMs: 2540 }, parameters: { lr: "0.1" } });
  const lines = resultLines(aTable(measured, aRow({ job: 2, parameters: { lr: "0.2" } })), null);
  expect(lines).toEqual([
    "sweep-1: 2 succeeded",
    "job  state       lr  seconds  cpu_seconds  memory_mb  machine  slot",
    "  1  succeeded  0.1      1.5          2.5       1830  gpu1        0",
    "  2  succeeded  0.2      1.5            -          -  gpu1        0",
  ]);
});

test("the class of a failure is shown, if one says more than an exit code", () => {
  const own = { parameters: { lr: "0.1" } };
  const exit = aRow({ ...own, state: "failed", outcome: { kind: "exited", code: 1 } });
  const killed = { kind: "killed", signal: "SIGKILL", cause: "out-of-memory" } as const;
  expect(resultLines(aTable(exit), null)[1]).not.toContain("failure");
  expect(resultLines(aTable(exit, aRow({ ...own, job: 2, state: "failed", outcome: killed })), null)).toEqual(
    [
      "sweep-1: 2 failed",
      "job  state   failure         lr  seconds  machine  slot",
      "  1  failed  exit           0.1      1.5  gpu1        0",
      "  2  failed  out-of-memory  0.1      1.5  gpu1        0",
    ],
  );
});

test("for a command with several lines, the first one is shown", () => {
  const lines = resultLines(aTable(aRow({ command: "for i in 1 2; do\n  echo $i\ndone" })), null);
  expect(lines.at(-1)).toMatch(/ {2}for i in 1 2; do …$/);
});

test("columns without room are named; metrics and the sorted column come first", () => {
  const wide: ResultTable = aTable(
    aRow({
      parameters: { first: "p".repeat(30), second: "2" },
      metrics: { acc: 0.5, loss: 1, perplexity: 3 },
    }),
  );
  for (const columns of [30, 44, 60, 80]) {
    for (const line of resultLines(wide, null, columns)) expect(line.length).toBeLessThanOrEqual(columns);
  }
  expect(resultLines(wide, null, 44)).toEqual([
    "sweep-1: 1 succeeded",
    "job  second  acc  loss  perplexity",
    "  1       2  0.5     1           3",
    "no room for: state, first, seconds, machine,",
    "slot; --csv has all",
  ]);
  expect(resultLines(wide, findColumn(wide.columns, "first"), 44)[1]).toMatch(/^job {2}first/);
});

test("output of a job does not move the cursor", () => {
  const table = aTable(aRow({ parameters: { a: "\u001b[2J" }, metrics: { "b\u0007": "\u009b1m" } }));
  expect(resultLines(table, null).join("")).not.toMatch(/[\u0000-\u001f\u007f-\u009f]/);
});
