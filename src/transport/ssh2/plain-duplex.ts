// A channel of ssh2 as a stream that behaves like a socket: destroy() ends it at once, also while the link is dead.

import { Duplex } from "node:stream";
import { brokenPipe } from "../script/lost-running.js";

/** `end`: closes the channel. */
export function plainDuplex(channel: Duplex, end: () => void): Duplex {
  let waiting: ((error?: Error) => void) | null = null;
  const goOn = (error?: Error) => {
    const done = waiting;
    waiting = null;
    done?.(error);
  };
  const duplex = new Duplex({
    read: () => void channel.resume(),
    write(chunk: Buffer, _encoding, done) {
      if (channel.write(chunk)) done();
      else waiting = done;
    },
    final(done) {
      channel.end();
      done();
    },
    destroy(error, done) {
      end();
      done(error);
    },
  });
  channel.on("data", (chunk: Buffer) => {
    if (!duplex.push(chunk)) channel.pause();
  });
  channel.on("drain", () => goOn());
  channel.on("error", () => {});
  const finish = () => {
    if (!duplex.readableEnded && !duplex.destroyed) duplex.push(null);
  };
  channel.once("end", finish);
  channel.once("close", () => {
    goOn(brokenPipe("the channel is closed"));
    if (!channel.readableEnded) finish();
    // Nothing can be sent any more, so that a stream that is only kept ready shows that it is over.
    duplex.end();
  });
  return duplex;
}
