// Follows a spool's event log from a known offset: the first time, the tenth time and after a cut are the same.

import { finished } from "node:stream/promises";
import type { Session } from "../../transport/session.js";
import { gatherTail } from "../engine/gather-tail.js";
import { type Place, prelude } from "../engine/layout.js";
import { LONGEST_LINE_BYTES } from "../engine/line-limit.js";
import { remoteErrorFrom } from "../engine/remote-error.js";
import { parseSpoolEvent, type SpoolEvent } from "./spool-event.js";

export interface Following {
  readonly place: Place;
  /** Bytes of the log that are known already. */
  readonly offset: number;
  /** `offset` is where the log goes on after this event. */
  readonly onEvent: (event: SpoolEvent, offset: number) => void;
  readonly signal: AbortSignal;
}

/** Resolves when the channel ended or the signal came, with what the machine said of it; null: the link was lost. */
export async function follow(
  session: Session,
  { place, offset, onEvent, signal }: Following,
): Promise<string | null> {
  const running = await session.exec(followScript(place, offset));
  const close = () => running.close();
  signal.addEventListener("abort", close, { once: true });
  if (signal.aborted) close();
  const stderr = gatherTail(running.stderr);
  /** Where `rest` begins. */
  let position = offset;
  let rest: Buffer = Buffer.alloc(0);
  let isOverlong = false;
  const take = (chunk: Buffer) => {
    rest = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
    for (let end = rest.indexOf(10); end >= 0; end = rest.indexOf(10)) {
      const line = rest.toString("utf8", 0, end);
      const event = parseSpoolEvent(isOverlong ? lastEventIn(line) : line);
      isOverlong = false;
      position += end + 1;
      rest = rest.subarray(end + 1);
      if (event !== null) onEvent(event, position);
    }
    if (rest.length <= LONGEST_LINE_BYTES) return;
    if (!isOverlong) onEvent({ kind: "overlong" }, position);
    isOverlong = true;
    position += rest.length - KEPT_BYTES;
    rest = rest.subarray(-KEPT_BYTES);
  };
  try {
    // Not by `for await`, which costs more than an event.
    await finished(running.stdout.on("data", take), { writable: false });
    const end = await running.ended;
    return end.kind === "lost" ? null : remoteErrorFrom("following the event log", await stderr).message;
  } finally {
    signal.removeEventListener("abort", close);
    running.close();
  }
}

/** Of a line that is too long, so much of its end is kept: a slot may have appended an event to it. */
const KEPT_BYTES = 256;

function lastEventIn(line: string): string {
  return line.slice(Math.max(0, line.lastIndexOf("started "), line.lastIndexOf("ended ")));
}

/** `tail` would outlive a closed channel: a shell sees stdin end, and ends it. Without `tail` the channel ends. */
function followScript(place: Place, offset: number): string {
  return `${prelude(place)}
cd "$spool" || exit 1
exec 3<&0
{ read -r _; kill $$; } <&3 >/dev/null 2>&1 &
exec tail -c +${offset + 1} -f events </dev/null 3<&-
`;
}
