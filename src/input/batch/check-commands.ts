// Checks commands that were in quotes, where bash saw no mistake in them: bash is asked about each before the first one
// starts.

import { type Problem, problemsError } from "../../errors.js";
import type { Job } from "../../model/job.js";
import type { AskBash } from "./ask-bash.js";
import { areWhole, isEven } from "./vouch.js";

/** Throws UserError with every mistake. */
export async function checkCommands(
  jobs: readonly Pick<Job, "line" | "command">[],
  script: string,
  ask: AskBash,
): Promise<void> {
  const commands = jobs.map(({ command }) => command);
  if (commands.every(isEven) && (await areWhole(commands, ask))) return;
  const problems: Problem[] = [];
  for (const { line, command } of jobs) {
    const says = mistakeIn(await ask(command));
    if (says === null) continue;
    const hint = 'in double quotes, write \\" and \\\\ for what the command has of these';
    problems.push({ where: `${script}:${line}`, message: `in its command: ${says}`, hint });
  }
  if (problems.length > 0) throw problemsError(problems);
}

function mistakeIn(verdict: Awaited<ReturnType<AskBash>>): string | null {
  switch (verdict.kind) {
    case "taken":
      return verdict.heredocs.length === 0 ? null : "a here-document has no end";
    case "open":
    case "refused":
      return verdict.says;
    case "unasked":
      return null;
    default:
      return verdict satisfies never;
  }
}
