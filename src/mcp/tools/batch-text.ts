// Turns a list of commands into the text of a batch file, and refuses what would not be one job per command.

import { type Problem, problemsError } from "../../errors.js";
import { bashAt } from "../../input/batch/ask-bash.js";
import { parseBatch } from "../../input/batch/batch-file.js";
import { type OwnCommandOf, ownWords } from "./need-fields.js";

/** `name`: of the file, for messages. Throws UserError. */
export async function batchText(commands: readonly OwnCommandOf[], name: string): Promise<string> {
  const problems: Problem[] = [];
  const lines: string[] = [];
  const starts: number[] = [];
  for (const each of commands) {
    const words = ownWords(each);
    if (words.length > 0) lines.push(`#@ ${words.join(" ")}`);
    starts.push(lines.length + 1);
    lines.push(...commandOf(each).split("\n"));
  }
  // Option lines with a blank line below are for all jobs, so none may be left over.
  const text = `${lines.join("\n")}\n`;
  const { jobs } = await parseBatch(text, name, bashAt("bash"));
  const lineOf = new Map(jobs.map((job) => [job.line, job.command]));
  for (const [at, each] of commands.entries())
    if (lineOf.get(starts[at] ?? 0) !== commandOf(each))
      problems.push({
        where: `commands[${at}]`,
        message: "is not exactly one command of bash",
        hint: "join several with && or ;, or put them into ( … ); blank lines and comments are no commands",
      });
  if (problems.length > 0) throw problemsError(problems);
  if (jobs.length === commands.length) return text;
  throw problemsError([
    {
      where: "commands",
      message: `${commands.length} commands would be ${jobs.length} jobs`,
      hint: "one command per item",
    },
  ]);
}

function commandOf(own: OwnCommandOf): string {
  return typeof own === "string" ? own : (own.command ?? "");
}
