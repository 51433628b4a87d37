// Whether our files may lie on a machine, asked where nothing is put there.

import type { Session } from "../../transport/session.js";
import { ask } from "../engine/ask.js";
import { type Place, rootPrelude } from "../engine/layout.js";

/** Throws RemoteError where another account could change what is in our directories. */
export async function checkPlace(
  session: Session,
  scratch: Place["scratch"],
  signal: AbortSignal,
): Promise<void> {
  const script = `${rootPrelude(scratch)}check_own || exit 1\necho done\n`;
  await ask(session, { doing: "looking at its .sshoal", script, signal });
}
