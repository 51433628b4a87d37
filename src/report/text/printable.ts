// Text from scripts and machines, made safe to show: it can neither move the cursor nor pose as another line.

import { stripVTControlCharacters } from "node:util";

// Control characters but tab, lone surrogates, line separators, and what turns the reading direction.
const UNSAFE = /(?!\t)[\p{Cc}\p{Cs}\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/gu;

const SHORT_FORMS: Readonly<Record<string, string>> = { "\n": "\\n", "\r": "\\r" };

/** Longer than any terminal is wide: the rest of a line would never be seen. */
const LINE_LIMIT = 1000;

export function printable(text: string): string {
  return text.replace(UNSAFE, (char) => SHORT_FORMS[char] ?? escapeOf(char.charCodeAt(0)));
}

/** What a terminal would show of a job's output line: no colours, and what a progress bar drew last. */
export function lastSaid(text: string): string {
  return printableStart(drawnLast(text).trimEnd());
}

/** Without colours, and of what is drawn over and over in one line its last state; not yet safe. */
export function drawnLast(text: string): string {
  const parts = stripVTControlCharacters(text).split(/[\r\n]/);
  return parts.findLast((part) => part.trim() !== "") ?? "";
}

/** As much as a terminal can show on a line. */
export function printableStart(text: string): string {
  return printable(text.slice(0, LINE_LIMIT));
}

function escapeOf(code: number): string {
  return code < 0x100
    ? `\\x${code.toString(16).padStart(2, "0")}`
    : `\\u${code.toString(16).padStart(4, "0")}`;
}
