// Messages over a socket, one JSON object per line. What comes in is bounded, and so is what waits to go out.

import type { Socket } from "node:net";

/** A longer line ends the channel. One line tells of every job of a batch, some hundred bytes each. */
const MOST_IN_BYTES = 64 << 20;
/** A reader that is further behind is dropped. */
const MOST_OUT_BYTES = 64 << 20;

/** As it came in: not looked at yet. */
export type Message = Readonly<Record<string, unknown>>;

/** Owns the socket. Never throws for what the other side does. */
export class JsonChannel {
  readonly #socket: Socket;
  #pieces: Buffer[] = [];
  #bytes = 0;
  #onMessage: (message: Message) => void = () => {};
  /** Resolves when nothing more will come. */
  readonly closed: Promise<void>;

  constructor(socket: Socket) {
    this.#socket = socket;
    socket.on("error", () => socket.destroy());
    this.closed = new Promise((resolve) => socket.once("close", () => resolve()));
  }

  /** Nothing is read before this is called. */
  listen(onMessage: (message: Message) => void): void {
    this.#onMessage = onMessage;
    this.#socket.on("data", (chunk: Buffer) => this.#take(chunk));
  }

  send(message: object): void {
    this.sendLine(`${JSON.stringify(message)}\n`);
  }

  /** A message that is a line already, for several readers. */
  sendLine(line: string): void {
    if (!this.#socket.writable) return;
    this.#socket.write(line);
    if (this.#socket.writableLength > MOST_OUT_BYTES) this.#socket.destroy();
  }

  /** After all that was sent. A reader that takes nothing is not waited for. */
  async end(): Promise<void> {
    this.#socket.end();
    const timer = setTimeout(() => this.#socket.destroy(), 1000);
    await this.closed;
    clearTimeout(timer);
  }

  #take(chunk: Buffer): void {
    let rest = chunk;
    for (let end = rest.indexOf(10); end !== -1; end = rest.indexOf(10)) {
      const line = Buffer.concat([...this.#pieces, rest.subarray(0, end)]).toString();
      this.#pieces = [];
      this.#bytes = 0;
      rest = rest.subarray(end + 1);
      const message = parseMessage(line);
      if (message === null) return void this.#socket.destroy();
      this.#onMessage(message);
    }
    this.#pieces.push(rest);
    this.#bytes += rest.length;
    if (this.#bytes > MOST_IN_BYTES) this.#socket.destroy();
  }
}

/** Null: it is no JSON object. */
function parseMessage(line: string): Message | null {
  try {
    const parsed: unknown = JSON.parse(line);
    return typeof parsed === "object" && parsed !== null && !Array.isArray(parsed)
      ? (parsed as Message)
      : null;
  } catch {
    return null;
  }
}
