// Asks the service to use the connection of a request as a stream to the shell of this machine.

import type { Duplex } from "node:stream";
import { refusedOr } from "./service-answer.js";
import { LostConnection } from "./service-door.js";

export interface DialIn {
  readonly headers: Readonly<Record<string, string>>;
  readonly path: string;
  readonly protocol: string;
}

const MOST_HEAD_BYTES = 64 << 10;

/**
 * Returns the headers of the answer, by names in small letters; the socket is the stream then. Throws ServiceError if the
 * service refuses, and LostConnection.
 */
export async function dialIn(socket: Duplex, asked: DialIn): Promise<ReadonlyMap<string, string>> {
  const given = Object.entries(asked.headers).map(([name, value]) => `${name}: ${value}`);
  const lines = [
    `POST ${asked.path} HTTP/1.1`,
    ...given,
    "connection: upgrade",
    `upgrade: ${asked.protocol}`,
  ];
  socket.write(`${lines.join("\r\n")}\r\ncontent-length: 0\r\n\r\n`);
  const { head, rest } = await readHead(socket);
  const [statusLine = "", ...fields] = head.split("\r\n");
  const status = Number(/^HTTP\/1\.1 (\d{3})/.exec(statusLine)?.[1] ?? 0);
  const headers = new Map(fields.map(parseField));
  if (status === 101) {
    if (rest.length > 0) socket.unshift(rest);
    return headers;
  }
  if (status < 400) throw lost(socket, "the answer is not that of a queue service");
  const length = Number(headers.get("content-length") ?? 0);
  await refusedOr({ status, headers, body: bodyOf(socket, rest, length) });
  throw new Error("a refusal without an error");
}

function parseField(line: string): [string, string] {
  const colon = line.indexOf(":");
  return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()];
}

/** Leaves the socket paused, without a listener: not a byte after the head is lost. */
function readHead(socket: Duplex): Promise<{ readonly head: string; readonly rest: Buffer }> {
  return new Promise((resolve, reject) => {
    let bytes: Buffer = Buffer.alloc(0);
    const done = () => {
      socket.off("data", onData).off("end", onClose).off("close", onClose).pause();
    };
    const onClose = () => {
      done();
      reject(lost(socket, "the connection is lost"));
    };
    const onData = (chunk: Buffer) => {
      bytes = Buffer.concat([bytes, chunk]);
      const end = bytes.indexOf("\r\n\r\n");
      if (end === -1 && bytes.length < MOST_HEAD_BYTES) return;
      done();
      if (end === -1) reject(lost(socket, "the answer is no HTTP"));
      else resolve({ head: bytes.subarray(0, end).toString("latin1"), rest: bytes.subarray(end + 4) });
    };
    socket.on("data", onData).once("end", onClose).once("close", onClose);
  });
}

async function* bodyOf(socket: Duplex, first: Buffer, length: number): AsyncGenerator<Buffer> {
  let left = length - first.length;
  yield first;
  if (left > 0)
    for await (const chunk of socket as AsyncIterable<Buffer>) {
      yield chunk;
      left -= chunk.length;
      if (left <= 0) break;
    }
  socket.destroy();
}

function lost(socket: Duplex, why: string): LostConnection {
  socket.destroy();
  return new LostConnection(why);
}
