import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { type AnyBatch, countWords } from "../../../../src/model/batch-status.js";
import {
  allBatchesJson,
  allBatchesLines,
  unreachedNotes,
} from "../../../../src/report/tables/all-batches-table.js";
import { signsOf } from "../../../../src/report/text/signs.js";
import { textWidth } from "../../../../src/report/text/width.js";

const DOCUMENT = readFileSync(new URL("../../../../docs/json-events.md", import.meta.url), "utf8");
type Known = Extract<AnyBatch, { kind: "known" }>;

const HOUR = 3_600_000;
const NOW = 1_760_000_000_000;
const NONE = countWords([]);

function aBatch(facts: Partial<Known> = {}): Known {
  return {
    kind: "known",
    batch: "sweep.sh-4f1d2c9a",
    stem: "sweep.sh",
    directory: "/home/me/vit",
    counts: { ...NONE, succeeded: 11, failed: 2, running: 6, waiting: 11 },
    leftOut: 0,
    toCollect: 0,
    isAtWork: true,
    elapsedMs: 724_000,
    timeLeftMs: 780_000,
    follower: "process 4711",
    apiSocket: "/run/user/1000/sshoal/4711-0a1b2c.sock",
    lastAt: NOW,
    seenAt: NOW,
    unreached: [],
    ...facts,
  };
}

const over = (stem: string, facts: Partial<Known> = {}) =>
  aBatch({
    stem,
    counts: { ...NONE, succeeded: 3 },
    isAtWork: false,
    timeLeftMs: null,
    follower: null,
    apiSocket: null,
    ...facts,
  });

const linesOf = (batches: readonly AnyBatch[], columns = 100) =>
  allBatchesLines(batches, {
    signs: signsOf(true),
    columns,
    rowColumns: columns,
    homeDir: "/home/me",
    now: NOW,
  });

test("one row per batch; what could not be asked about is marked as last seen", () => {
  const unreached = [{ machine: "gpu1", reason: "connection refused" }];
  const away = aBatch({ stem: "big.sh", counts: { ...NONE, running: 6 }, seenAt: NOW - 3 * HOUR, unreached });
  const lines = linesOf([
    aBatch(),
    { ...away, timeLeftMs: null, elapsedMs: 5 * HOUR },
    over("train.sh", { directory: "/data/old", toCollect: 2, counts: { ...NONE, succeeded: 3, failed: 1 } }),
    { kind: "unreadable", stem: "x.sh", directory: "/home/me", problem: "made by a newer sshoal" },
  ]);
  expect(lines).toEqual([
    "STATE    BATCH       TIME  LEFT  DIRECTORY  JOBS",
    "running  sweep.sh  12m04s  ~13m  ~/vit      11 succeeded · 2 failed · 6 running · 11 waiting",
    "running  big.sh     5h00m        ~/vit      last seen 3h00m ago: 6 running",
    "failed   train.sh  12m04s        /data/old  3 succeeded · 1 failed · 2 to collect",
    "unknown  x.sh                    ~          made by a newer sshoal",
  ]);
});

test("jobs that no machine can ever run are counted apart: they have failed, and do not wait", () => {
  const counts = { ...NONE, succeeded: 3, waiting: 2 };
  expect(linesOf([over("a.sh", { counts, leftOut: 2 }), over("b.sh", { counts, leftOut: 1 })])).toEqual([
    "STATE    BATCH    TIME  DIRECTORY  JOBS",
    // Batches that wait for a client are listed first.
    "waiting  b.sh   12m04s  ~/vit      3 succeeded · 1 left out · 1 waiting",
    "failed   a.sh   12m04s  ~/vit      3 succeeded · 2 left out",
  ]);
  const [line = ""] = allBatchesJson([over("a.sh", { counts, leftOut: 2 })]);
  expect(JSON.parse(line)).toMatchObject({ state: "failed", counts: { waiting: 2 }, leftOut: 2 });
});

test("of batches that have ended, twenty are listed", () => {
  const lines = linesOf([aBatch(), ...Array.from({ length: 23 }, (_, index) => over(`b${index}`))]);
  expect(lines).toHaveLength(23);
  expect(lines.at(-1)).toBe("… 3 more; --json lists all");
});

test("no batch, no table", () => {
  expect(linesOf([])).toEqual([]);
});

test("where no batch has time left, there is no such column", () => {
  expect(linesOf([over("train.sh")])).toEqual([
    "STATE      BATCH       TIME  DIRECTORY  JOBS",
    "succeeded  train.sh  12m04s  ~/vit      3 succeeded",
  ]);
});

describe("where a row is too long", () => {
  const directory = "/home/me/projects/vision/vit";
  const counts = { ...NONE, succeeded: 6, failed: 2 };
  const long = over("learning-rate-sweep.sh", { directory, counts });

  test("the directory gives up room for the jobs", () => {
    expect(linesOf([long], 80)).toEqual([
      "STATE   BATCH                     TIME  DIRECTORY         JOBS",
      "failed  learning-rate-sweep.sh  12m04s  …ects/vision/vit  6 succeeded · 2 failed",
    ]);
  });

  test("then the batch does", () => {
    expect(linesOf([long], 70)).toEqual([
      "STATE   BATCH               TIME  DIRECTORY     JOBS",
      "failed  …g-rate-sweep.sh  12m04s  …/vision/vit  6 succeeded · 2 failed",
    ]);
  });

  test("at last the jobs are cut", () => {
    expect(linesOf([long], 60)[1]).toBe("failed  …te-sweep.sh  12m04s  …/vision/vit  6 succeeded · 2…");
  });
});

test("each problem of a machine is named once", () => {
  const unreached = [{ machine: "gpu1", reason: "refused" }];
  const elsewhere = [{ machine: "gpu1", reason: "no route" }];
  expect(
    unreachedNotes([aBatch({ unreached }), aBatch({ unreached }), aBatch({ unreached: elsewhere })]),
  ).toEqual(["gpu1 cannot be asked: refused", "gpu1 cannot be asked: no route"]);
});

test.each([40, 80, 120])("%i columns are never exceeded, and nothing moves the cursor", (columns) => {
  const odd = { stem: "long\u001b[2J".repeat(20), directory: "/d\u009b\n".repeat(30) };
  const lines = linesOf(
    [aBatch(odd), { kind: "unreadable", ...odd, problem: "x\u001b".repeat(50) }],
    columns,
  );
  for (const line of lines) expect(textWidth(line)).toBeLessThanOrEqual(columns);
  expect(lines.join("")).not.toMatch(/[\u001b\r\n\u009b]/);
});

test("--json: the document's examples are exactly what is printed, and harmless to a terminal", () => {
  const unreached = [{ machine: "gpu1", reason: "connection refused" }];
  const problem = "its record is damaged";
  for (const line of allBatchesJson([
    aBatch({ unreached, seenAt: NOW - 3 * HOUR, follower: null, apiSocket: null }),
    { kind: "unreadable", directory: "/home/me/old", stem: "train.sh", problem },
  ]))
    expect(DOCUMENT).toContain(`\n    ${line}\n`);
  expect(allBatchesJson([aBatch({ directory: "/\u009b" })])[0]).not.toMatch(/[\u0000-\u001f\u007f-\u009f]/);
});
