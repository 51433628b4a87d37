// Removes a batch's spool once nothing in it is needed. Also removes unused trees: those older than a week, and the
// oldest beyond a limit.

import type { Session } from "../../transport/session.js";
import { ask } from "../engine/ask.js";
import { type Place, prelude } from "../engine/layout.js";
import { wordsAfter } from "../engine/words-after.js";
import { runtimeFile } from "../runtime-files.js";

export interface TreeLimits {
  readonly trees: number;
  readonly bytes: number;
}

const LIMITS: TreeLimits = { trees: 20, bytes: 20e9 };

/** Why a spool, or a part of it, stays: a file cannot be removed, or a slot runs on another host. */
export type Remains =
  | { readonly kind: "left"; readonly path: string }
  | { readonly kind: "elsewhere"; readonly host: string };

/** Null: nothing is left. */
export async function clean(
  session: Session,
  place: Place,
  signal: AbortSignal,
  limits: TreeLimits = LIMITS,
): Promise<Remains | null> {
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
  const [path] = wordsAfter("left", answers);
  const [host] = wordsAfter("elsewhere", answers);
  if (host !== undefined) return { kind: "elsewhere", host };
  return path === undefined ? null : { kind: "left", path };
}
