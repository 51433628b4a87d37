// Messages over a socket, one JSON object per line. Limits incoming lines and waiting output.

import type { Socket } from "node:net";

/** A longer line ends the channel. One line can describe every job of a batch, with about a hundred bytes each. */
const MOST_IN_BYTES = 64 << 20;
/** A reader that is further behind is disconnected. */
const MOST_OUT_BYTES = 64 << 20;

/** As received; its fields are not checked yet. */
export type Message = Readonly<Record<string, unknown>>;

/** Owns the socket. Never throws because of the other side. */
export class JsonChannel {
  readonly #socket: Socket;
  #pieces: Buffer[] = [];
  #bytes = 0;
  #onMessage: (message: Message) => void = () => {};
  /** Resolves when nothing more will arrive. */
  readonly closed: Promise<void>;

  constructor(socket: Socket) {
    this.#socket = socket;
    socket.on("error", () => socket.destroy());
    this.closed = new Promise((resolve) => socket.once("close", () => resolve()));
  }

  /** Nothing is read before this call. */
  listen(onMessage: (message: Message) => void): void {
    this.#onMessage = onMessage;
    this.#socket.on("data", (chunk: Buffer) => this.#take(chunk));
  }

  send(message: object): void {
    this.sendLine(`${JSON.stringify(message)}\n`);
  }

  /** Sends a message that is already a line, for several readers. */
  sendLine(line: string): void {
    if (!this.#socket.writable) return;
    this.#socket.write(line);
    if (this.#socket.writableLength > MOST_OUT_BYTES) this.#socket.destroy();
  }

  /** Ends after everything was sent. Does not wait for a reader that reads nothing. */
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
