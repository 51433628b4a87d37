// Follows a spool's event log from a known offset: the first time, the tenth time and after a cut are the same.

import { finished } from "node:stream/promises";
import type { Session } from "../transport/session.js";
import { type Place, prelude } from "./layout.js";
import { parseSpoolEvent, type SpoolEvent } from "./spool-event.js";

export interface Following {
  readonly place: Place;
  /** Bytes of the log that are known already. */
  readonly offset: number;
  /** `offset` is where the log goes on after this event. */
  readonly onEvent: (event: SpoolEvent, offset: number) => void;
  readonly signal: AbortSignal;
}

/** Returns when the channel ended or the signal came. */
export async function follow(session: Session, { place, offset, onEvent, signal }: Following): Promise<void> {
  const running = await session.exec(followScript(place, offset));
  const close = () => running.close();
  signal.addEventListener("abort", close, { once: true });
  if (signal.aborted) close();
  running.stderr.resume();
  let position = offset;
  let rest: Buffer = Buffer.alloc(0);
  const take = (chunk: Buffer) => {
    rest = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
    for (let end = rest.indexOf(10); end >= 0; end = rest.indexOf(10)) {
      const event = parseSpoolEvent(rest.toString("utf8", 0, end));
      position += end + 1;
      rest = rest.subarray(end + 1);
      if (event !== null) onEvent(event, position);
    }
  };
  try {
    // Not by `for await`, which costs more than an event.
    await finished(running.stdout.on("data", take), { writable: false });
  } finally {
    signal.removeEventListener("abort", close);
    running.close();
  }
}

/** `tail` would outlive a closed channel; the shell sees its stdin end and takes it along. */
function followScript(place: Place, offset: number): string {
  return `${prelude(place)}
cd "$spool" || exit 1
tail -c +${offset + 1} -f events </dev/null &
read -r _
kill $!
`;
}
