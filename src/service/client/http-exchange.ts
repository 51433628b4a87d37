// One request of HTTP/1.1 over a socket, and its answer. Written by hand, because loading node:http and sending one
// request with it takes 9 ms more of a processor.

import type { Duplex } from "node:stream";
import { LostConnection } from "./service-door.js";

export interface Asked {
  readonly method: "GET" | "POST" | "DELETE";
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Sent as JSON; undefined: nothing. */
  readonly body?: unknown;
  /** Sent instead, as it comes. */
  readonly content?: Content;
}

interface Content {
  readonly bytes: number;
  /** Begins anew with each call. */
  pieces(): AsyncIterable<Buffer>;
}

export interface Answered {
  readonly status: number;
  /** By names in small letters. */
  readonly headers: ReadonlyMap<string, string>;
  /** Throws LostConnection if the connection is lost before its end. Closes the socket when it ends, or is left. */
  readonly body: AsyncIterable<Buffer>;
}

const MOST_HEAD_BYTES = 64 << 10;

/** Owns the socket. */
export async function exchange(socket: Duplex, asked: Asked): Promise<Answered> {
  // An error also ends the reading below, which reports it.
  socket.on("error", () => {});
  socket.write(formatRequest(asked));
  if (asked.content !== undefined) await sendAll(socket, asked.content);
  const bytes = new Incoming(socket);
  const [statusLine = "", ...lines] = (await bytes.takeUntil("\r\n\r\n")).split("\r\n");
  const status = Number(/^HTTP\/1\.1 (\d{3})/.exec(statusLine)?.[1]);
  if (Number.isNaN(status)) throw bytes.lost("the answer is no HTTP");
  const headers = new Map(lines.map(parseHeader));
  const isChunked = headers.get("transfer-encoding") === "chunked";
  const length = Number(headers.get("content-length") ?? 0);
  return { status, headers, body: isChunked ? chunksOf(bytes) : bytesOf(bytes, length) };
}

/** No faster than it is taken. A service that refuses it answers while it is sent, and then closes. */
async function sendAll(socket: Duplex, { pieces }: Content): Promise<void> {
  try {
    for await (const piece of pieces()) {
      if (socket.destroyed) return;
      if (!socket.write(piece)) await drained(socket);
    }
  } catch (error) {
    socket.destroy();
    throw error;
  }
}

function drained(socket: Duplex): Promise<void> {
  return new Promise((resolve) => {
    const end = () => {
      for (const name of ["drain", "close", "error"]) socket.off(name, end);
      resolve();
    };
    for (const name of ["drain", "close", "error"]) socket.on(name, end);
  });
}

function formatRequest({ method, path, headers, body, content: sent }: Asked): Buffer {
  const content = body === undefined ? Buffer.alloc(0) : Buffer.from(JSON.stringify(body));
  const about = body === undefined ? [] : ["content-type: application/json"];
  const length = method === "GET" ? [] : [`content-length: ${sent?.bytes ?? content.length}`];
  const given = Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
  const lines = [`${method} ${path} HTTP/1.1`, ...given, "connection: close", ...about, ...length];
  return Buffer.concat([Buffer.from(`${lines.join("\r\n")}\r\n\r\n`), content]);
}

function parseHeader(line: string): [string, string] {
  const colon = line.indexOf(":");
  return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()];
}

async function* bytesOf(bytes: Incoming, length: number): AsyncGenerator<Buffer> {
  try {
    yield* bytes.take(length);
  } finally {
    bytes.close();
  }
}

async function* chunksOf(bytes: Incoming): AsyncGenerator<Buffer> {
  try {
    for (;;) {
      const [digits = ""] = /^[\da-f]+/i.exec(await bytes.takeUntil("\r\n")) ?? [];
      const size = Number.parseInt(digits, 16);
      if (Number.isNaN(size)) throw bytes.lost("the answer is no HTTP");
      yield* bytes.take(size);
      await bytes.takeUntil("\r\n");
      if (size === 0) return;
    }
  } finally {
    bytes.close();
  }
}

/** What arrives, with backpressure. */
class Incoming {
  readonly #socket: Duplex;
  readonly #chunks: AsyncIterator<Buffer>;
  #rest: Buffer = Buffer.alloc(0);

  constructor(socket: Duplex) {
    this.#socket = socket;
    this.#chunks = socket[Symbol.asyncIterator]();
  }

  /** Without the ending. */
  async takeUntil(ending: string): Promise<string> {
    let end = this.#rest.indexOf(ending);
    while (end === -1) {
      if (this.#rest.length > MOST_HEAD_BYTES) throw this.lost("the answer is no HTTP");
      this.#rest = Buffer.concat([this.#rest, await this.#next()]);
      end = this.#rest.indexOf(ending);
    }
    const taken = this.#rest.subarray(0, end).toString("latin1");
    this.#rest = this.#rest.subarray(end + ending.length);
    return taken;
  }

  async *take(length: number): AsyncGenerator<Buffer> {
    let left = length;
    while (left > 0) {
      if (this.#rest.length === 0) this.#rest = await this.#next();
      const piece = this.#rest.subarray(0, left);
      this.#rest = this.#rest.subarray(piece.length);
      left -= piece.length;
      yield piece;
    }
  }

  lost(why: string, cause?: unknown): LostConnection {
    this.close();
    return new LostConnection(why, { cause });
  }

  close(): void {
    this.#socket.destroy();
  }

  async #next(): Promise<Buffer> {
    const next = await this.#chunks.next().catch((cause: unknown) => {
      throw this.lost("the connection is lost", cause);
    });
    if (next.done === true) throw this.lost("the connection is lost");
    return next.value;
  }
}
