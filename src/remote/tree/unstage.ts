// Removes a tree from a machine that has no room for jobs after all.

import type { Session } from "../../transport/session.js";
import { ask } from "../engine/ask.js";
import { type Place, prelude } from "../engine/layout.js";
import { runtimeFile } from "../runtime-files.js";
import type { Tree } from "./tree.js";

/** A tree that a batch names stays. */
export async function unstage(
  session: Session,
  { place, tree, signal }: { place: Place; tree: Tree; signal: AbortSignal },
): Promise<void> {
  const script = `${prelude(place)}
${runtimeFile("clean.sh")}
unstage "$root/trees/${tree.hash}" </dev/null
`;
  await ask(session, { doing: "taking the working directory back", script, signal });
}
