// Reads a spool's event log once, from its beginning: for a look at a batch that nobody follows.

import type { Session } from "../../transport/session.js";
import { ask } from "../engine/ask.js";
import { type Place, prelude } from "../engine/layout.js";
import { parseSpoolEvent, type SpoolEvent } from "./spool-event.js";

/** A job is some 60 bytes of it: enough for two million. */
const MAX_BYTES = 128 << 20;

/** Null: there is no spool of this batch. */
export async function readLog(
  session: Session,
  place: Place,
  signal: AbortSignal,
): Promise<SpoolEvent[] | null> {
  const lines = await ask(session, {
    doing: "reading the event log",
    script: readLogScript(place),
    signal,
    maxBytes: MAX_BYTES,
  });
  return lines[0] === "there" ? lines.flatMap((line) => parseSpoolEvent(line) ?? []) : null;
}

/** A full disk can leave the last line open: "done" must not end up on it. */
function readLogScript(place: Place): string {
  return `${prelude(place)}
if [ -e "$spool/events" ]; then
  echo there
  cat "$spool/events" </dev/null || exit 1
  echo
fi
echo done
`;
}
