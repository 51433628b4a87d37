// Cuts arriving bytes into whole lines, each with its end position.

const NEWLINE = 0x0a;

export interface Line {
  /** Without its line end. */
  readonly text: string;
  /** The offset after it, counted from the first byte. */
  readonly end: number;
}

export class LineCutter {
  #rest: Buffer[] = [];
  #offset: number;
  /** A file may begin with a byte order mark. */
  #isFirst: boolean;

  /** `offset`: the offset of the first byte. */
  constructor(offset = 0) {
    this.#offset = offset;
    this.#isFirst = offset === 0;
  }

  cut(bytes: Buffer): Line[] {
    const lines: Line[] = [];
    let start = 0;
    for (let at = bytes.indexOf(NEWLINE); at >= 0; at = bytes.indexOf(NEWLINE, start)) {
      const text = this.#take(bytes.subarray(start, at));
      lines.push({ text, end: this.#offset + at + 1 });
      start = at + 1;
    }
    if (start < bytes.length) this.#rest.push(bytes.subarray(start));
    this.#offset += bytes.length;
    return lines;
  }

  /** The last line if it has no line end. */
  end(): Line[] {
    if (this.#rest.length === 0) return [];
    return [{ text: this.#take(Buffer.alloc(0)), end: this.#offset }];
  }

  #take(last: Buffer): string {
    const bytes = this.#rest.length === 0 ? last : Buffer.concat([...this.#rest, last]);
    this.#rest = [];
    const text = bytes.toString("utf8");
    const isFirst = this.#isFirst;
    this.#isFirst = false;
    return isFirst ? text.replace(/^\ufeff/, "") : text;
  }
}
