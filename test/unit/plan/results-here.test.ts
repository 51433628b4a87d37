import { expect, test } from "vitest";
import { earlierToRemove, filesByBatch } from "../../../src/plan/results-here.js";

const STEMS = ["train.sh", "train.sh.bak", "remote-1"];
const OWNERS = { stems: STEMS, jobs: new Map() };

/** What each batch has, in place and of earlier runs. */
function sorted(...entries: string[]): Record<string, { current: unknown; earlier: unknown }> {
  return Object.fromEntries(
    [...filesByBatch(entries, OWNERS)].map(([stem, { current, earlier }]) => [
      String(stem),
      { current: Object.fromEntries(current), earlier: Object.fromEntries(earlier) },
    ]),
  );
}

test("entries belong to the batch whose name they begin with, the longest one", () => {
  expect(
    sorted(
      "train.sh.3",
      "train.sh.3.out",
      "train.sh.3.old-1",
      "train.sh.bak.3",
      "train.sh.bak.3.old-1.err",
      "remote-1",
    ),
  ).toEqual({
    "train.sh": {
      current: { "train.sh.3": ["train.sh.3", "train.sh.3.out"] },
      earlier: { "train.sh.3.old-1": ["train.sh.3.old-1"] },
    },
    "train.sh.bak": {
      current: { "train.sh.bak.3": ["train.sh.bak.3"] },
      earlier: { "train.sh.bak.3.old-1": ["train.sh.bak.3.old-1.err"] },
    },
    "remote-1": { current: { "remote-1": ["remote-1"] }, earlier: {} },
  });
});

test("what no record knows is never an earlier result, whatever it is called", () => {
  const odd = ["mine.old-1", "train.shx.old-1", "notes.txt", "train.old-2", "remote-12.old-1"];
  expect(sorted(...odd)).toEqual({
    null: { current: Object.fromEntries(odd.map((name) => [name, [name]])), earlier: {} },
  });
});

test("of each series the oldest go, but not what is needed", () => {
  const entries = [
    ...[1, 2, 10].flatMap((n) => [`train.sh.3.old-${n}`, `train.sh.3.old-${n}.out`]),
    "train.sh.3.again-2",
    "train.sh.3.old-1.again-2",
    "train.sh.report.old-7",
    "train.sh.3.out.old-1",
  ];
  const files = filesByBatch(entries, OWNERS).get("train.sh");
  const goes = (most: number, needed = "") =>
    files && earlierToRemove(files, most, (name) => name === needed);
  expect(goes(1)).toEqual(["train.sh.3.old-1", "train.sh.3.old-2"]);
  expect(goes(1, "train.sh.3.old-1")).toEqual(["train.sh.3.old-2"]);
  expect(goes(0)?.length).toBe(6);
  expect(files?.earlier.get("train.sh.3.old-1")).toEqual([
    "train.sh.3.old-1",
    "train.sh.3.old-1.out",
    "train.sh.3.old-1.again-2",
  ]);
});

test("the results of a job are in place, whatever it is called", () => {
  const jobs = new Map([
    ["x", "x"],
    ["x.old-1", "x.old-1"],
    ["train.sh.3", "train.sh"],
  ]);
  const owners = { stems: ["x", "x.old-1", "train.sh", "train.sh.3"], jobs };
  const entries = ["x", "x.old-1", "x.old-1.out", "x.old-2", "train.sh.3.old-1", "train.sh.3.out.old-1"];
  const found = filesByBatch(entries, owners);
  expect([...found.keys()]).toEqual(["x", "x.old-1", "train.sh"]);
  expect(found.get("x")?.earlier).toEqual(new Map([["x.old-2", ["x.old-2"]]]));
  expect(found.get("x.old-1")?.current).toEqual(new Map([["x.old-1", ["x.old-1", "x.old-1.out"]]]));
  expect([...(found.get("train.sh")?.earlier.keys() ?? [])]).toEqual([
    "train.sh.3.old-1",
    "train.sh.3.out.old-1",
  ]);
});
