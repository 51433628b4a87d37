// What is said when the client leaves a batch that goes on (pure).

import type { Left } from "../../plan/remaining.js";
import { count } from "../../report/lines/wording.js";

/** "3 jobs run on without you; sshoal attach follows them", and what becomes of the others. */
export function farewellLines({ running, queued, unsent, ended }: Left): string[] {
  const lines: string[] = [];
  if (running > 0) lines.push(`${count(running, "job")} ${does(running, "run")} on ${followed(running)}`);
  if (queued > 0 && running > 0)
    lines.push(`${queued} more ${does(queued, "wait")} on the machines, which need no client for that`);
  if (queued > 0 && running === 0)
    lines.push(
      `${count(queued, "job")} ${does(queued, "wait")} on the machines and ${does(queued, "begin")} ${followed(queued)}`,
    );
  if (unsent > 0)
    lines.push(`${count(unsent, "job")} ${does(unsent, "wait")} for you: the same command resumes the batch`);
  if (lines.length === 0 && ended > 0)
    lines.push(`no job runs any more; sshoal attach collects ${count(ended, "result")}`);
  return lines;
}

function followed(amount: number): string {
  return `without you; sshoal attach follows ${amount === 1 ? "it" : "them"}`;
}

function does(amount: number, verb: string): string {
  return amount === 1 ? `${verb}s` : verb;
}
