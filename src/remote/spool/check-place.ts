// Checks whether sshoal's directories on a machine are safe, for verbs that write nothing there.

import type { Session } from "../../transport/session.js";
import { ask } from "../engine/ask.js";
import { type Place, rootPrelude } from "../engine/layout.js";

/** Throws RemoteError if another account could change files in them. */
export async function checkPlace(
  session: Session,
  scratch: Place["scratch"],
  signal: AbortSignal,
): Promise<void> {
  const script = `${rootPrelude(scratch)}check_own || exit 1\necho done\n`;
  await ask(session, { doing: "checking its .sshoal", script, signal });
}
