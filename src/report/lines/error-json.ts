// Errors that end a command, for programs: one object per mistake, in the format that docs/json-events.md promises to keep.

import { ExitCode, UserError } from "../../errors.js";
import { jsonLine } from "./json-lines.js";

/** What everything else that is thrown is to the user. */
const BUG_HINT = "report it with the lines on stderr";

export function errorJson(error: unknown, at: number): string[] {
  return mistakesOf(error).map((mistake) => jsonLine({ kind: "error", at, ...mistake }));
}

interface MistakeJson {
  readonly message: string;
  readonly where: string | null;
  readonly hint: string | null;
  readonly exitCode: ExitCode;
}

function mistakesOf(error: unknown): MistakeJson[] {
  if (!(error instanceof UserError)) {
    const message = `sshoal has a bug: ${error instanceof Error ? error.message : String(error)}`;
    return [{ message, where: null, hint: BUG_HINT, exitCode: ExitCode.Bug }];
  }
  const { message, hint = null, problems, exitCode } = error;
  if (problems.length === 0) return [{ message, where: null, hint, exitCode }];
  return problems.map((problem) => ({
    message: problem.message,
    where: problem.where,
    hint: problem.hint ?? null,
    exitCode,
  }));
}
