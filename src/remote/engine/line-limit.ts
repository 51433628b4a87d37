// Limits the length of a line from a machine. Lines of sshoal are short; a very long one would fill the local memory.

import type { Readable } from "node:stream";
import { RemoteError } from "./remote-error.js";

export const LONGEST_LINE_BYTES = 64 << 10;

/** `what`: the sender, for the message: "its control channel". */
export function lineTooLong(what: string): RemoteError {
  return new RemoteError(`${what} sent a line of more than ${LONGEST_LINE_BYTES >> 10} kB`);
}

/** The lines of a stream; throws RemoteError for one that is too long. */
export async function* shortLines(stream: Readable, what: string): AsyncGenerator<string> {
  let rest: Buffer = Buffer.alloc(0);
  for await (const chunk of stream as AsyncIterable<Buffer>) {
    rest = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
    for (let end = rest.indexOf(10); end >= 0; end = rest.indexOf(10)) {
      yield rest.toString("utf8", 0, end);
      rest = rest.subarray(end + 1);
    }
    if (rest.length > LONGEST_LINE_BYTES) throw lineTooLong(what);
  }
  if (rest.length > 0) yield rest.toString("utf8");
}
