// Turns a list of commands into the text of a batch file, and refuses what would not be one job per command.

import { type Problem, problemsError, UserError } from "../../errors.js";
import { bashAt } from "../../input/batch/ask-bash.js";
import { parseBatch } from "../../input/batch/batch-file.js";
import { type OwnCommandOf, ownWords } from "./need-fields.js";

/** Throws UserError, which names the commands by their index. */
export async function batchText(commands: readonly OwnCommandOf[]): Promise<string> {
  const lines: string[] = [];
  const starts: number[] = [];
  for (const each of commands) {
    const words = ownWords(each);
    if (words.length > 0) lines.push(`#@ ${words.join(" ")}`);
    starts.push(lines.length + 1);
    lines.push(...commandOf(each).split("\n"));
  }
  const text = `${lines.join("\n")}\n`;
  const { jobs } = await parseBatch(text, WHOLE, bashAt("bash")).catch((error) => explain(error, starts));
  const byLine = new Map(jobs.map(({ line, command }) => [line, command]));
  const problems = commands.flatMap((each, at): Problem[] =>
    byLine.get(starts[at] ?? 0) === commandOf(each) ? [] : [{ where: `${WHOLE}[${at}]`, ...NOT_ONE }],
  );
  if (problems.length > 0) throw problemsError(problems);
  if (jobs.length === commands.length) return text;
  const message = `${commands.length} commands would be ${jobs.length} jobs`;
  throw problemsError([{ where: WHOLE, message, hint: NOT_ONE.hint }]);
}

/** The argument, for messages. */
const WHOLE = "commands";
const NOT_ONE = {
  message: "is not exactly one command of bash",
  hint: "one command per item: join several with && or ;, or put them into ( … ); comments are no commands",
};

/** A mistake that bash reports has the line of the text, which the caller has never seen. */
function explain(error: unknown, starts: readonly number[]): never {
  if (!(error instanceof UserError) || error.problems.length === 0) throw error;
  const problems = error.problems.map(({ where, message }) => {
    const line = Number(/:(\d+)$/.exec(where)?.[1] ?? 1);
    const at = Math.max(
      0,
      starts.findLastIndex((start) => start <= line),
    );
    return {
      where: `${WHOLE}[${at}]`,
      message,
      hint: "check its quotes and brackets: bash -n -c 'the command'",
    };
  });
  throw problemsError(problems);
}

function commandOf(own: OwnCommandOf): string {
  return typeof own === "string" ? own : (own.command ?? "");
}
