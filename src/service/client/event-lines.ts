// Reads the events of a text/event-stream as they arrive in pieces.

import { StringDecoder } from "node:string_decoder";
import type { QueueEvent } from "../../model/queue-event.js";
import { parseAnswer, StrangeAnswer } from "./service-answer.js";

/** An event has at most a job, whose command has at most 1 MB. */
const MOST_LINE = 64 << 20;

/** Of one connection. An event that a lost connection cut is not among them: the next connection begins with it. */
export async function* eventsOf(pieces: AsyncIterable<Buffer>): AsyncGenerator<QueueEvent> {
  const decoder = new StringDecoder("utf8");
  let rest = "";
  for await (const piece of pieces) {
    const [first = "", ...lines] = decoder.write(piece).split("\n");
    // Only what is new is searched: a long line comes in many pieces.
    rest += first;
    if (rest.length > MOST_LINE) throw new StrangeAnswer("an event has no end");
    for (const line of lines) {
      if (rest.startsWith("data: ")) yield parseAnswer<QueueEvent>(rest.slice("data: ".length));
      rest = line;
    }
  }
}
