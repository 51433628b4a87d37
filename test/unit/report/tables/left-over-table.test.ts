import { expect, test } from "vitest";
import {
  type CleanedMachine,
  formatLeftOver,
  type LeftRow,
} from "../../../../src/report/tables/left-over-table.js";
import { textWidth } from "../../../../src/report/text/width.js";

const HASH = "0123456789abcdef0123456789abcdef01234567";

function aRow(facts: Partial<LeftRow>): LeftRow {
  const { what = "batch" } = facts;
  const name = what === "tree" ? HASH : "jobs.sh-1a2b3c4d";
  return { what, name, bytes: 4096, ageSeconds: null, end: "removed", reason: null, ...facts };
}

const machines: CleanedMachine[] = [
  {
    kind: "looked",
    machine: "one.yaml",
    rows: [
      aRow({ end: "kept", reason: "in use, 2 running, 30 waiting, 1 to collect", bytes: 12_300_000 }),
      aRow({ name: "other.sh-00000000" }),
      aRow({ what: "tree", bytes: 1_200_000_000, ageSeconds: 270_000 }),
    ],
  },
  { kind: "looked", machine: "two.yaml", rows: [] },
  { kind: "failed", machine: "off.yaml", reason: "connection refused", hint: "is sshd running?" },
];

test("for each machine what it has, its size, and what happened to it", () => {
  expect(formatLeftOver(machines)).toBe(`\
one.yaml
  batch  jobs.sh-1a2b3c4d   12.3 MB  kept: in use, 2 running, 30 waiting, 1 to
                                     collect
  batch  other.sh-00000000   4.1 kB  removed
  tree   0123456789ab        1.2 GB  removed, 3d03h old
two.yaml
  nothing is left on it
off.yaml
  connection refused
  is sshd running?
total: 1.2 GB; removed 1.2 GB
`);
});

test("a dry run shows what would be removed", () => {
  const rows = [aRow({ end: "would be removed" }), aRow({ what: "tree", end: "kept", reason: "used by b" })];
  expect(formatLeftOver([{ kind: "looked", machine: "one.yaml", rows }])).toBe(`\
one.yaml
  batch  jobs.sh-1a2b3c4d  4.1 kB  would be removed
  tree   0123456789ab      4.1 kB  kept: used by b
total: 8.2 kB; would remove 4.1 kB
`);
});

test.each([40, 80, 120])("%i columns are never exceeded, and nothing moves the cursor", (columns) => {
  const name = `${"long".repeat(30)}-00000000`;
  const odd: CleanedMachine[] = [
    { kind: "looked", machine: "x\u001b[2J".repeat(30), rows: [aRow({ name, end: "kept", reason: name })] },
    { kind: "failed", machine: "y", reason: "a\r\nb\u001b[1m ".repeat(30), hint: null },
  ];
  const text = formatLeftOver([...machines, ...odd], columns);
  for (const line of text.split("\n")) expect(textWidth(line)).toBeLessThanOrEqual(columns);
  expect(text).not.toMatch(/[\u001b\r]/);
});
