// Prefixes each line of a job's output with the job's name, and makes it safe to print.

import { drawnLast, printable } from "../text/printable.js";

const HARMLESS = /^[\t\x20-\x7e]*$/;

/** `text`: whole lines. */
export function teeLines(name: string, text: string): string[] {
  const prefix = `${printable(name)}: `;
  return harmlessLines(text).map((line) => prefix + line);
}

export function harmlessLines(text: string): string[] {
  const lines = (text.endsWith("\n") ? text.slice(0, -1) : text).split("\n");
  return lines.map((line) => (HARMLESS.test(line) ? line : printable(drawnLast(line))));
}
