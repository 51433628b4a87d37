// The end of what a script prints on a stream: where tools report what went wrong.

import { once } from "node:events";
import type { Readable } from "node:stream";
import { StringDecoder } from "node:string_decoder";

const TAIL_CHARACTERS = 4096;

/** Resolves when the stream has closed, and not before: that a script has ended does not mean that all was read. */
export async function gatherTail(stream: Readable, most = TAIL_CHARACTERS): Promise<string> {
  const decoder = new StringDecoder("utf8");
  let tail = "";
  stream.on("data", (chunk: Buffer) => {
    tail = (tail + decoder.write(chunk)).slice(-most);
  });
  await once(stream, "close").catch(() => undefined);
  return tail;
}
