// Reads a spool's event logs once, from the start, for commands that look at a batch without following it.

import type { Session } from "../../transport/session.js";
import { ask } from "../engine/ask.js";
import { type Place, prelude } from "../engine/layout.js";
import { runtimeFile } from "../runtime-files.js";
import { parseClock } from "./machine-clock.js";
import { parseSpoolEvent, type SpoolEvent } from "./spool-event.js";

/** A job takes about 60 bytes, so this is enough for two million jobs. */
const MAX_BYTES = 128 << 20;

/** The events of each log in order, one log after the other. Null: there is no spool of this batch. */
export async function readLog(
  session: Session,
  place: Place,
  signal: AbortSignal,
): Promise<SpoolEvent[] | null> {
  const lines = await ask(session, {
    doing: "reading the event logs",
    script: readLogScript(place),
    signal,
    maxBytes: MAX_BYTES,
  });
  if (lines[0] !== "there") return null;
  const clock = parseClock(lines.at(-1) ?? "", Date.now());
  return lines.flatMap((line) => parseSpoolEvent(line, clock) ?? []);
}

/** A full disk can leave the last line of a log incomplete: `tail` prints the name of the next log on a separate line. */
function readLogScript(place: Place): string {
  return `${prelude(place)}
${runtimeFile("logs.sh")}
! cd "$spool" 2>/dev/null || find_logs
if [ -n "\${logs-}" ]; then
  echo there
  tail -n +1 $logs </dev/null || exit 1
  echo
  print_clock
fi
echo done
`;
}
