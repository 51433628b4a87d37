// The output of `sshoal doctor`: for each machine its verdict, then its checks, each problem with its fix below.

import type { Check, Verdict } from "../../model/examination.js";
import { lookOf, type Style } from "../live/styled-text.js";
import { printable } from "../text/printable.js";
import { padWidth, textWidth } from "../text/width.js";
import { wrap } from "../text/wrap.js";

export interface DiagnosedMachine {
  readonly machine: string;
  readonly isFit: boolean;
  readonly checks: readonly Check[];
}

export interface DoctorCanvas {
  readonly columns: number;
  readonly useColour: boolean;
  readonly useUnicode: boolean;
}

const INDENT = "  ";
const GAP = "  ";

/** Each line with its newline. */
export function formatDoctor(machines: readonly DiagnosedMachine[], canvas: DoctorCanvas): string {
  const { paint } = lookOf(canvas);
  const names = machines.flatMap(({ checks }) => checks.map(({ check }) => textWidth(check)));
  const widest = Math.max(0, ...names);
  const lines = machines.flatMap(({ machine, isFit, checks }) => [
    `${printable(machine)}: ${paint(isFit ? "fit" : "not fit", isFit ? "good" : "bad")}`,
    ...checks.flatMap((check) => checkLines(check, widest, canvas)),
  ]);
  return lines.map((line) => `${line}\n`).join("");
}

function checkLines({ check, verdict, says, fix }: Check, widest: number, canvas: DoctorCanvas): string[] {
  const mark = (canvas.useUnicode ? SIGNS : WORDS)[verdict];
  const start = `${INDENT}${mark} ${padWidth(check, widest)}${GAP}`;
  const below = " ".repeat(textWidth(start));
  const [first = "", ...others] = wrap(says, canvas.columns - textWidth(start));
  const painted = start.replace(mark, lookOf(canvas).paint(mark, STYLES[verdict]));
  return [
    `${painted}${first}`,
    ...others.map((line) => below + line),
    // Not wrapped, so that it can be copied.
    ...(fix === null ? [] : [`${INDENT}${" ".repeat(textWidth(mark))} fix: ${printable(fix)}`]),
  ];
}

const STYLES: Readonly<Record<Verdict, Style>> = { ok: "good", warn: "warn", bad: "bad" };
const SIGNS: Readonly<Record<Verdict, string>> = { ok: "✓", warn: "!", bad: "✗" };
const WORDS: Readonly<Record<Verdict, string>> = { ok: "ok  ", warn: "warn", bad: "BAD " };
