// The end of what a script says on a stream: where tools tell what went wrong.

import { once } from "node:events";
import type { Readable } from "node:stream";

const TAIL_CHARACTERS = 4096;

/** Resolves when the stream has closed, and not before: that a script has ended does not mean that all was read. */
export async function gatherTail(stream: Readable): Promise<string> {
  let tail = "";
  stream.on("data", (chunk: Buffer) => {
    tail = (tail + chunk.toString("utf8")).slice(-TAIL_CHARACTERS);
  });
  await once(stream, "close").catch(() => undefined);
  return tail;
}
