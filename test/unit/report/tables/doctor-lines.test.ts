import { expect, test } from "vitest";
import type { Check } from "../../../../src/model/examination.js";
import { type DiagnosedMachine, formatDoctor } from "../../../../src/report/tables/doctor-lines.js";
import { textWidth } from "../../../../src/report/text/width.js";

const checks: Check[] = [
  { check: "reach", verdict: "ok", says: "connected in 0.1 s", fix: null },
  {
    check: "login shell",
    verdict: "warn",
    says: "bash takes 3.1 s to start, and every request to the machine waits for it",
    fix: "begin ~/.bashrc with: case $- in *i*) ;; *) return ;; esac, to skip slow commands without a terminal",
  },
  {
    check: "tools",
    verdict: "bad",
    says: "there is no tar",
    fix: "on the machine: sudo apt-get install tar",
  },
];
const machines: DiagnosedMachine[] = [
  { machine: "a.yaml", isFit: true, checks: checks.slice(0, 1) },
  { machine: "gpu1", isFit: false, checks },
];
const canvas = { columns: 60, useColour: false, useUnicode: true };

test("a mark for each check, aligned over all machines; a fix is not wrapped, so that it can be copied", () => {
  expect(formatDoctor(machines, canvas)).toBe(`\
a.yaml: fit
  ✓ reach        connected in 0.1 s
gpu1: not fit
  ✓ reach        connected in 0.1 s
  ! login shell  bash takes 3.1 s to start, and every
                 request to the machine waits for it
    fix: begin ~/.bashrc with: case $- in *i*) ;; *) return ;; esac, to skip slow commands without a terminal
  ✗ tools        there is no tar
    fix: on the machine: sudo apt-get install tar
`);
});

test("words instead of signs without Unicode", () => {
  expect(formatDoctor(machines.slice(1), { ...canvas, columns: 80, useUnicode: false })).toBe(`\
gpu1: not fit
  ok   reach        connected in 0.1 s
  warn login shell  bash takes 3.1 s to start, and every request to the machine
                    waits for it
       fix: begin ~/.bashrc with: case $- in *i*) ;; *) return ;; esac, to skip slow commands without a terminal
  BAD  tools        there is no tar
       fix: on the machine: sudo apt-get install tar
`);
});

test("only verdicts are coloured, and only if wanted", () => {
  const painted = formatDoctor(machines, { ...canvas, useColour: true });
  expect(painted).toContain("gpu1: \u001b[31mnot fit\u001b[39m\n");
  expect(painted).toContain("  \u001b[31m✗\u001b[39m tools        there is no tar\n");
  expect(painted.replaceAll(/\u001b\[\d+m/g, "")).toBe(formatDoctor(machines, canvas));
});

test.each([40, 60, 80, 200])(
  "%i columns are never exceeded, except by fixes, and nothing moves the cursor",
  (columns) => {
    const odd: Check = {
      check: "setup",
      verdict: "bad",
      says: "a\u001b[2J\r\nb ".repeat(40),
      fix: "x\u001b[2J\n",
    };
    const text = formatDoctor([{ machine: "m\u001b[2J", isFit: false, checks: [...checks, odd] }], {
      ...canvas,
      columns,
    });
    for (const line of text.split("\n").filter((each) => !each.includes("fix: ")))
      expect(textWidth(line)).toBeLessThanOrEqual(columns);
    expect(text).not.toMatch(/[\u001b\r]/);
  },
);
