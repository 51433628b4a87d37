// Reads the events of a text/event-stream as they arrive in pieces.

import { StringDecoder } from "node:string_decoder";
import type { QueueEvent } from "../../model/queue.js";

/** Of one connection. An event that a lost connection cut is not among them: the next connection begins with it. */
export async function* eventsOf(pieces: AsyncIterable<Buffer>): AsyncGenerator<QueueEvent> {
  const decoder = new StringDecoder("utf8");
  let rest = "";
  for await (const piece of pieces) {
    const lines = (rest + decoder.write(piece)).split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines)
      if (line.startsWith("data: ")) yield JSON.parse(line.slice("data: ".length)) as QueueEvent;
  }
}
