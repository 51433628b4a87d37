// Finds the script of `run` among what was typed.

import type { Command } from "commander";
import { UserError } from "../../errors.js";
import { pathsIn } from "./path-words.js";
import type { RawRun } from "./run-options.js";
import { typedIn } from "./typed-values.js";

/** Lists such as --machines take every word that follows, including the script's name if it comes last. */
export function requireScript(script: string | undefined, raw: RawRun, command: Command): string {
  if (raw.follow !== undefined) {
    if (script === undefined && raw.follow !== "-" && raw.dryRun === undefined) return raw.follow;
    throw new UserError(`--follow takes its jobs from ${raw.follow} alone, and runs them`, {
      hint: raw.follow === "-" ? "execute_batch - reads stdin" : `execute_batch --follow ${raw.follow}`,
    });
  }
  if (script !== undefined) return script;
  const [flag, swallowed] = lastSwallowed(typedIn(raw, command));
  const program = [command.parent, command].flatMap((each) => each?.name() ?? []).join(" ");
  const usage = `${program} script.sh --machines a.yaml b.yaml`;
  if (swallowed === undefined) throw new UserError("which script?", { hint: usage });
  throw new UserError(`which script? ${flag} has taken "${swallowed}" too`, {
    hint: `put the script first: ${program} ${swallowed} ${flag} …`,
  });
}

function lastSwallowed({ machines = [], copyForward, copyBackwards }: Partial<RawRun>) {
  const lists: [string, string[]][] = [
    ["--machines", machines.filter((name) => /\.(ba)?sh$|\.txt$/.test(name))],
    ["--copy-forward", (pathsIn(copyForward) ?? []).slice(1)],
    ["--copy-backwards", (pathsIn(copyBackwards) ?? []).slice(1)],
  ];
  const [flag, words] = lists.find(([, list]) => list.length > 0) ?? ["--machines", []];
  return [flag, words.at(-1)] as const;
}
