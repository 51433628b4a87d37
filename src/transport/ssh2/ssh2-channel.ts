// An ssh2 channel as streams that behave like Node's own. ssh2's streams leave a pending write without its callback if
// the machine closes first, and their `destroy` and `close` are not what `pipeline` expects.

import { type Duplex, Writable } from "node:stream";
import type { ClientChannel } from "ssh2";
import { deferred } from "../deferred.js";
import { brokenPipe } from "../script/lost-running.js";
import type { ExecEnd, Running } from "../session.js";

/** Large writes: 64 KiB at a time reach only half the speed of 1 MiB. */
const WRITE_BYTES = 1024 * 1024;

export interface WrappedChannel {
  readonly running: Running;
  /** Resolves when nothing more arrives through it. */
  readonly closed: Promise<void>;
  /** True if its program has ended, though its last output may be unread. */
  hasEnded(): boolean;
  /**
   * The connection is gone. Call it before ssh2 closes the channel by itself: an exit status does not count then,
   * because output may be missing.
   */
  lose(reason: string): void;
}

/** `socket`: the stream that ssh2 writes to. */
export function wrapChannel(channel: ClientChannel, socket: Duplex): WrappedChannel {
  const ended = deferred<ExecEnd>();
  const closed = deferred<void>();
  const stdin = writeTo(channel, socket);
  let hasEnded = false;
  const end = () => {
    hasEnded = true;
  };
  channel.once("exit", end).once("close", end);
  channel.on("error", () => {});
  stdin.on("error", () => {}); // it may end before it is used
  channel.once("close", (code?: number | null, signal?: string) => {
    ended.resolve(readEnd(code, signal));
    closed.resolve();
  });
  const lose = (reason: string) => {
    end();
    ended.resolve({ kind: "lost", reason });
    closed.resolve();
  };
  void ended.promise.then(() => {
    stdin.destroy(stdin.writableFinished ? undefined : brokenPipe("the script has ended"));
  });
  const close = () => {
    lose("closed on this side");
    channel.close();
  };
  return {
    running: { stdin, stdout: channel, stderr: channel.stderr, ended: ended.promise, close },
    closed: closed.promise,
    hasEnded: () => hasEnded,
    lose,
  };
}

function writeTo(channel: ClientChannel, socket: Duplex): Writable {
  // ssh2 makes packets of 32 KiB and writes each one separately; joined, they cost one system call.
  const write = (chunk: Buffer, done: (error?: Error | null) => void) => {
    socket.cork();
    channel.write(chunk, done);
    socket.uncork();
  };
  return new Writable({
    highWaterMark: WRITE_BYTES,
    write: (chunk: Buffer, _encoding, done) => write(chunk, done),
    writev: (chunks, done) => write(Buffer.concat(chunks.map(({ chunk }) => chunk as Buffer)), done),
    final: (done) => {
      channel.end();
      done();
    },
  });
}

function readEnd(code: number | null | undefined, signal: string | undefined): ExecEnd {
  if (typeof code === "number") return { kind: "exited", code };
  if (signal !== undefined) return { kind: "killed", signal };
  return { kind: "lost", reason: "the channel was closed before the script ended" };
}
