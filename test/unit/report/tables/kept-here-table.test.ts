import { expect, test } from "vitest";
import type { KeptHere } from "../../../../src/model/kept-here.js";
import { formatKeptHere, keptHereJson } from "../../../../src/report/tables/kept-here-table.js";
import { textWidth } from "../../../../src/report/text/width.js";

const row = (facts: Partial<KeptHere>): KeptHere => ({
  place: "job_results",
  what: "results",
  batch: "train.sh",
  count: 1,
  bytes: 0,
  ageSeconds: null,
  end: "kept",
  reason: null,
  names: [],
  ...facts,
});

const ROWS = [
  row({ count: 120, bytes: 1.23e9 }),
  row({ what: "earlier results", count: 4, bytes: 2e9, end: "removed", names: ["train.sh.1.old-1"] }),
  row({ what: "record", bytes: 12_300, reason: "needed to resume" }),
  row({ what: "half arrived", batch: null, count: 2, bytes: 33e6, end: "removed", ageSeconds: 90_000 }),
  row({
    place: "/home/a/.cache/sshoal",
    what: "checksums",
    batch: null,
    count: 1,
    bytes: 5000,
    ageSeconds: 60,
  }),
];

test("place by place, with what became of it", () => {
  expect(formatKeptHere(ROWS)).toBe(`\
job_results
  results          train.sh  120   1.2 GB  kept
  earlier results  train.sh    4   2.0 GB  removed
  record           train.sh    1  12.3 kB  kept: needed to resume
  half arrived                 2  33.0 MB  removed, the oldest is 1d01h old
/home/a/.cache/sshoal
  checksums                    1   5.0 kB  kept, 1m00s old
total: 3.3 GB; removed 2.0 GB
`);
  expect(formatKeptHere([])).toBe("nothing is kept here\n");
});

test.each([80, 60])("hostile names and long reasons stay within %d columns, on their lines", (columns) => {
  const odd = [
    row({ batch: "\u001b[2Jevil\n".repeat(9), end: "could not be removed", reason: "EACCES: a ".repeat(20) }),
    row({ place: `/home/${"deep/".repeat(30)}\r\n`, batch: "漢字".repeat(30) }),
  ];
  const text = formatKeptHere([...ROWS, ...odd], columns);
  for (const line of text.split("\n")) expect(textWidth(line)).toBeLessThanOrEqual(columns);
  expect(text).not.toMatch(/[\u001b\r]/);
});

test("as JSON one object per row, without control characters", () => {
  const lines = keptHereJson([ROWS[1] as KeptHere, row({ batch: "\u009b\u001b\n" })]).split("\n");
  expect(lines).toHaveLength(3);
  expect(JSON.parse(lines[0] ?? "")).toEqual({ v: 1, kind: "kept-here", ...ROWS[1] });
  expect(lines[1]).not.toMatch(/[\u0000-\u001f\u007f-\u009f]/);
});
