// What makes two crashes the same: the exit code and the last line of stderr.

import type { Outcome } from "../model/job.js";

/** Paths in a spool differ by job, slot and machine, and mean the same. */
const OWN_PATH = /[^\s'"]*\/batches\/[^/\s'"]+\/(?:slots\/\d+|jobs\/[\d-]+)\//g;
/** The number of a line differs with the environment and the setup of a machine. */
const OWN_LINE = /^(?:command|named): (?:line )?\d+: /;
/** bash reports a killed program with its pid and its arguments, which differ by job: `x: line 7:  4711 Aborted     python train.py`. */
const KILLED = /^(.*: (?:line )?\d+:) +\d+ (\p{Lu}[\p{L} ]*?)(?: {2,}.*|\(.*|)$/u;

/** Null: it is no crash. A silent exit code 1 is an answer, as of `grep`, `diff` and `test`. */
export function crashSign(outcome: Outcome, stderrTail: string): string | null {
  const line = lastLine(stderrTail);
  if (outcome.kind === "killed") return `${outcome.signal} ${line}`;
  if (outcome.kind !== "exited" || outcome.code === 0) return null;
  return outcome.code === 1 && line === "" ? null : `${outcome.code} ${line}`;
}

function lastLine(text: string): string {
  const lines = text.trimEnd().split("\n");
  return (lines.at(-1) ?? "")
    .trim()
    .replace(OWN_PATH, "")
    .replace(KILLED, "$1 $2")
    .replace(OWN_LINE, "command: ");
}
