// What is printed when the client leaves a batch that continues (pure).

import type { Notice } from "../../model/notice.js";
import type { Left } from "../../plan/remaining.js";
import { count } from "../../report/lines/wording.js";

/** "3 jobs continue without you; sshoal attach follows them", and what happens to the others. `attach`: what to type. */
export function farewellLines({ running, stopping, queued, unsent, ended }: Left, attach: string): string[] {
  const followed = (amount: number) => `without you; ${attach} follows ${amount === 1 ? "it" : "them"}`;
  const lines: string[] = [];
  if (running > 0) lines.push(`${count(running, "job")} ${does(running, "continue")} ${followed(running)}`);
  if (queued > 0) {
    const wait = `${does(queued, "wait")} on the machines and ${does(queued, "begin")}`;
    lines.push(
      running > 0 ? `${queued} more ${wait} there` : `${count(queued, "job")} ${wait} ${followed(queued)}`,
    );
  }
  if (unsent > 0)
    lines.push(`${count(unsent, "job")} ${does(unsent, "wait")} for you: the same command resumes the batch`);
  if (stopping > 0) {
    const are = stopping === 1 ? "is" : "are";
    lines.push(`${count(stopping, "job")} ${are} being stopped; ${attach} collects the results`);
  }
  if (lines.length === 0 && ended > 0)
    lines.push(`no job runs any more; ${attach} collects ${count(ended, "result")}`);
  return lines;
}

/** Empty: no command is kept for a later client. `wait`: what to type to wait for the end. */
export function noticeFarewell(notice: Notice | null, wait: string): string[] {
  if (notice === null || notice.command === "") return [];
  const news = notice.on === "end" ? "the end" : "a failure";
  return [
    `the command of --notify runs when an sshoal command learns of ${news}; to wait for it: setsid ${wait} &`,
  ];
}

function does(amount: number, verb: string): string {
  return amount === 1 ? `${verb}s` : verb;
}
