// Keeps the end of a script's output on a stream, because tools print their errors last.

import { once } from "node:events";
import type { Readable } from "node:stream";
import { StringDecoder } from "node:string_decoder";

const TAIL_CHARACTERS = 4096;

/** Resolves only when the stream has closed: a script can end before all its output was read. */
export async function gatherTail(stream: Readable, most = TAIL_CHARACTERS): Promise<string> {
  const decoder = new StringDecoder("utf8");
  let tail = "";
  stream.on("data", (chunk: Buffer) => {
    tail = (tail + decoder.write(chunk)).slice(-most);
  });
  await once(stream, "close").catch(() => undefined);
  return tail;
}
