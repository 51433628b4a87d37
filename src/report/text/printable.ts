// Makes text from scripts and machines safe to print: it cannot move the cursor or look like another line.

import { stripVTControlCharacters } from "node:util";

// Control characters except tab, lone surrogates, line separators, and characters that change the reading direction.
const UNSAFE = /(?!\t)[\p{Cc}\p{Cs}\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/gu;

const SHORT_FORMS: Readonly<Record<string, string>> = { "\n": "\\n", "\r": "\\r" };

/** Longer than any terminal is wide: the rest of a line would never be seen. */
const LINE_LIMIT = 1000;

export function printable(text: string): string {
  return text.replace(UNSAFE, (char) => SHORT_FORMS[char] ?? escapeOf(char.charCodeAt(0)));
}

/** A job's output line as a terminal shows it: without colours, and only the last state of a progress bar. */
export function lastSaid(text: string): string {
  return printableStart(drawnLast(text).trimEnd());
}

/** Removes colours, and keeps the last state of a line that is drawn repeatedly; not safe to print yet. */
export function drawnLast(text: string): string {
  const parts = stripVTControlCharacters(text).split(/[\r\n]/);
  return parts.findLast((part) => part.trim() !== "") ?? "";
}

/** As much as a terminal can show on one line. */
export function printableStart(text: string): string {
  return printable(text.slice(0, LINE_LIMIT));
}

function escapeOf(code: number): string {
  return code < 0x100
    ? `\\x${code.toString(16).padStart(2, "0")}`
    : `\\u${code.toString(16).padStart(4, "0")}`;
}
