// Removes a batch's spool once nothing in it is needed, and trees that nobody uses: those of a week ago, and the oldest
// beyond a limit.

import type { Session } from "../../transport/session.js";
import { ask } from "../engine/ask.js";
import { type Place, prelude } from "../engine/layout.js";
import { runtimeFile } from "../runtime-files.js";

export interface TreeLimits {
  readonly trees: number;
  readonly bytes: number;
}

const LIMITS: TreeLimits = { trees: 20, bytes: 20e9 };

/** Resolves with where something is left that could not be removed; null: nothing is. */
export async function clean(
  session: Session,
  place: Place,
  signal: AbortSignal,
  limits: TreeLimits = LIMITS,
): Promise<string | null> {
  const answers = await ask(session, {
    doing: "cleaning up",
    script: `${prelude(place)}
${runtimeFile("lib.sh")}
max_trees=${limits.trees} max_kb=${Math.floor(limits.bytes / 1024)}
${runtimeFile("clean.sh")}
clean </dev/null
`,
    signal,
  });
  return answers.find((line) => line.startsWith("left "))?.slice("left ".length) ?? null;
}
