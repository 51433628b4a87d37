// Waits for the readers of our output.

import { once } from "node:events";
import type { Writable } from "node:stream";

/** Resolves when each stream has room for more, when its reader has left, or when the signal aborts. */
export async function drained(streams: readonly Writable[], signal: AbortSignal): Promise<void> {
  for (const stream of streams)
    if (stream.writableNeedDrain) await once(stream, "drain", { signal }).catch(() => undefined);
}
