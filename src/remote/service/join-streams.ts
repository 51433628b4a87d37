// The stdin and stdout of a script as one stream, which behaves like a socket.

import { once } from "node:events";
import { Duplex, type Readable } from "node:stream";
import type { Running } from "../../transport/session.js";

const MOST_LINE_BYTES = 4096;

interface FirstLine {
  /** Null: the stream ended before. */
  readonly line: string | null;
  readonly rest: Buffer;
}

export async function firstLine(stream: Readable): Promise<FirstLine> {
  let text: Buffer = Buffer.alloc(0);
  for (;;) {
    const end = text.indexOf("\n");
    if (end !== -1) return { line: text.subarray(0, end).toString(), rest: text.subarray(end + 1) };
    if (text.length > MOST_LINE_BYTES || stream.readableEnded || stream.destroyed)
      return { line: null, rest: text };
    const piece = stream.read() as Buffer | null;
    if (piece === null)
      await Promise.race([once(stream, "readable"), once(stream, "end"), once(stream, "close")]);
    else text = Buffer.concat([text, piece]);
  }
}

/** `before`: what was read of stdout already. */
export function joinStreams({ stdin, stdout, close }: Running, before: Buffer): Duplex {
  const duplex = new Duplex({
    read: () => void stdout.resume(),
    write: (chunk: Buffer, _encoding, done) => void stdin.write(chunk, (error) => done(error)),
    final(done) {
      stdin.end();
      done();
    },
    destroy(error, done) {
      close();
      done(error);
    },
  });
  if (before.length > 0) duplex.push(before);
  const finish = () => {
    if (!duplex.readableEnded && !duplex.destroyed) duplex.push(null);
  };
  let hasEnded = false;
  stdout.on("data", (chunk: Buffer) => {
    if (!duplex.push(chunk)) stdout.pause();
  });
  stdout.on("error", () => {});
  stdout.once("end", () => {
    hasEnded = true;
    finish();
  });
  stdout.once("close", () => {
    if (!hasEnded) finish();
  });
  return duplex;
}
