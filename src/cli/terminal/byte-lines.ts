// Cuts a stream of bytes into lines, without decoding the bytes.

const NEWLINE = 10;
const RETURN = 13;
/** Longer lines are passed on in parts, because a job may print without ever ending a line. */
const LONGEST_LINE = 64 << 10;

/** A carriage return also ends a line, because progress bars use it. */
export class ByteLines {
  #rest: Buffer = Buffer.alloc(0);

  /** The lines that are complete now, each with its end. */
  take(bytes: Buffer): Buffer[] {
    const all = Buffer.concat([this.#rest, bytes]);
    const lines: Buffer[] = [];
    let start = 0;
    // A carriage return at the end is checked again, because a newline may follow it.
    for (let at = Math.max(0, this.#rest.length - 1); at < all.length; at++) {
      const isReturn = all[at] === RETURN && at + 1 < all.length && all[at + 1] !== NEWLINE;
      const isEnd = all[at] === NEWLINE || isReturn;
      if (!isEnd && at - start < LONGEST_LINE) continue;
      lines.push(all.subarray(start, at + 1));
      start = at + 1;
    }
    this.#rest = all.subarray(start);
    return lines;
  }

  /** The last line, if the stream ended without a line end. */
  end(): Buffer {
    const rest = this.#rest;
    this.#rest = Buffer.alloc(0);
    return rest;
  }
}

/** Keeps the last lines of a stream. */
export class LastLines {
  readonly #most: number;
  #lines: Buffer[] = [];
  #rest: Buffer = Buffer.alloc(0);

  constructor(most: number) {
    this.#most = most;
  }

  take(bytes: Buffer): void {
    let start = 0;
    for (let end = bytes.indexOf(NEWLINE); end !== -1; end = bytes.indexOf(NEWLINE, start)) {
      this.#lines.push(Buffer.concat([this.#rest, bytes.subarray(start, end + 1)]));
      this.#rest = Buffer.alloc(0);
      start = end + 1;
    }
    this.#rest = Buffer.concat([this.#rest, bytes.subarray(start)]);
    if (this.#lines.length > this.#most) this.#lines = this.#most === 0 ? [] : this.#lines.slice(-this.#most);
  }

  /** A last line without its end counts as one. */
  end(): Buffer[] {
    const lines = this.#rest.length === 0 ? this.#lines : [...this.#lines, this.#rest];
    return this.#most === 0 ? [] : lines.slice(-this.#most);
  }
}
