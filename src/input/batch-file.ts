// The text of a batch file -> its jobs: one a line, in bash syntax, numbered as the file's lines are.

import { type Problem, problemsError, UserError } from "../errors.js";
import type { Job } from "../model/job.js";
import { decodeText } from "./decode.js";
import { formatJobStem } from "./job-name.js";

const WHAT_A_BATCH_IS = "write one command a line; blank lines and lines that begin with # are no jobs";

/** `scriptPath` is the path as typed: jobs are named for it. */
export function parseBatch(content: Uint8Array | string, scriptPath: string): Job[] {
  const decoded = decodeText(content);
  if (decoded.kind === "not-text") {
    throw new UserError(`${scriptPath}:${decoded.line}: ${decoded.reason}`, { hint: decoded.hint });
  }
  const stem = formatJobStem(scriptPath);
  const jobs = decoded.text.split("\n").flatMap((text, index) => parseLine(text, index + 1, stem));
  if (jobs.length === 0) {
    throw new UserError(`${scriptPath}: there is no job in it`, { hint: WHAT_A_BATCH_IS });
  }
  const problems = jobs.flatMap((job) => findContinuation(job, scriptPath));
  if (problems.length > 0) throw problemsError(problems);
  return jobs;
}

function parseLine(text: string, line: number, stem: string): Job[] {
  const command = text.endsWith("\r") ? text.slice(0, -1) : text;
  const start = command.trimStart();
  if (start === "" || start.startsWith("#")) return [];
  return [{ line, name: `${stem}.${line}`, command }];
}

/** A command spread over lines would silently become several jobs, each of them half a command. */
function findContinuation(job: Job, scriptPath: string): Problem[] {
  let end = job.command.length;
  while (job.command[end - 1] === "\\") end -= 1;
  const isEscaped = (job.command.length - end) % 2 === 0;
  if (isEscaped) return [];
  const message = "the line ends with a backslash, but a job cannot go on in the next line";
  return [{ where: `${scriptPath}:${job.line}`, message, hint: "write the whole job in one line" }];
}
