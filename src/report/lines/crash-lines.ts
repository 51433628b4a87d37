// Sentences about jobs that crash at once in the same way, with the last lines of the first crash.

import { stripVTControlCharacters } from "node:util";
import type { BatchState } from "../../model/batch-state.js";
import type { RunEvent } from "../../model/event.js";
import { outcomeWords } from "../text/outcome-words.js";
import { printable, printableStart } from "../text/printable.js";
import { leftOutJobs } from "./left-out-lines.js";

type EventOf<K extends RunEvent["kind"]> = Extract<RunEvent, { kind: K }>;

const AFTER_A_FIX = "the same command with --retry-failed";

export function sameCrashLines(
  event: EventOf<"same-crash">,
  state: Pick<BatchState, "tally" | "jobs" | "leftOut">,
): string[] {
  const { action, outcome, stderrTail } = event;
  const { tally, jobs } = state;
  const first = jobs.get(event.jobs[0] ?? 0)?.job.name ?? "";
  const how = outcomeWords(outcome, stderrTail);
  return [
    `WARNING: the first ${event.jobs.length} jobs crashed in the same way: ${how}; ${printable(first)} printed last:`,
    ...tailLines(stderrTail),
    ...(action === "pause" ? pauseLines(tally.waiting - leftOutJobs(state).length) : haltLines()),
  ];
}

function pauseLines(waiting: number): string[] {
  return [
    `paused: ${waiting} waiting ${waiting === 1 ? "job does" : "jobs do"} not start; c starts them anyway`,
    `after a fix: q and s stop the batch, then type ${AFTER_A_FIX}`,
  ];
}

function haltLines(): string[] {
  return [
    "nothing new starts, running jobs finish; --no-pause runs all jobs anyway",
    `after a fix: type ${AFTER_A_FIX}`,
  ];
}

export function setAsideLines(event: EventOf<"machine-set-aside">): string[] {
  const { jobs, outcome, stderrTail, isMore } = event;
  const name = printable(event.machine);
  const moved = jobs.length === 1 ? "1 job runs elsewhere" : `${jobs.length} jobs run elsewhere`;
  if (isMore) return [`${name} is set aside: ${moved}, after the same crash`];
  const how = outcomeWords(outcome, stderrTail);
  return [
    `WARNING: ${name} is set aside, because its first jobs crashed in the same way: ${how}; ${moved}`,
    ...tailLines(stderrTail),
    `to check it: sshoal doctor --machines ${name}; to use it again: sshoal undrain ${name}`,
  ];
}

function tailLines(text: string): string[] {
  const lines = stripVTControlCharacters(text).trimEnd().split("\n");
  if (lines.length === 1 && lines[0] === "") return ["  (nothing on stderr)"];
  return lines.map((line) => `  ${printableStart(line.trimEnd())}`);
}
