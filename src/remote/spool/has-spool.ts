// Whether a batch's spool is on a machine: asked before an earlier client's work there is picked up.

import type { Session } from "../../transport/session.js";
import { ask } from "../engine/ask.js";
import { type Place, prelude } from "../engine/layout.js";

export async function hasSpool(session: Session, place: Place, signal: AbortSignal): Promise<boolean> {
  const script = `${prelude(place)}
[ -e "$spool/trees" ] && echo yes
echo done
`;
  const answers = await ask(session, { doing: "looking for the batch", script, signal });
  return answers.includes("yes");
}
