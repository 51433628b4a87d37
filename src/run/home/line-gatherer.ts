// A stream of bytes, cut into whole lines.

/** Longer lines come in parts: a job may print without ever ending a line. */
const LONGEST_LINE = 64 << 10;
const NEWLINE = 10;
const RETURN = 13;

export class LineGatherer {
  /** The line that is not whole yet. */
  #rest: Buffer;

  constructor(rest: Buffer = Buffer.alloc(0)) {
    this.#rest = rest;
  }

  /** The lines that are whole now, each with its newline; often none. */
  take(bytes: Buffer): string {
    const end = bytes.lastIndexOf(NEWLINE) + 1;
    const whole = end === 0 ? "" : Buffer.concat([this.#rest, bytes.subarray(0, end)]).toString("utf8");
    // Copied, or a few bytes would keep all of what they came with.
    this.#rest = Buffer.concat(end === 0 ? [this.#rest, bytes] : [bytes.subarray(end)]);
    return whole + this.#takePart();
  }

  /** What has no newline when the stream is over. */
  end(): string {
    const rest = this.#rest.toString("utf8");
    this.#rest = Buffer.alloc(0);
    return rest;
  }

  #takePart(): string {
    if (this.#rest.length > LONGEST_LINE) this.#rest = drawnLast(this.#rest);
    if (this.#rest.length <= LONGEST_LINE) return "";
    const end = wholeLetters(this.#rest);
    const part = this.#rest.subarray(0, end).toString("utf8");
    this.#rest = this.#rest.subarray(end);
    return `${part}\n`;
  }
}

/** Of a progress bar that is drawn over and over in one line: its last state. */
function drawnLast(line: Buffer): Buffer {
  let end = line.length;
  while (end > 0 && line[end - 1] === RETURN) end--;
  return end === 0 ? line : line.subarray(line.lastIndexOf(RETURN, end - 1) + 1);
}

/** How much of it does not end in the midst of a UTF-8 letter. */
function wholeLetters(bytes: Buffer): number {
  const isWithin = (at: number) => ((bytes[at] ?? 0) & 0xc0) === 0x80;
  let end = bytes.length;
  for (let back = 1; back <= 4; back++) {
    if (isWithin(bytes.length - back)) continue;
    if ((bytes[bytes.length - back] ?? 0) >= 0xc0) end = bytes.length - back;
    break;
  }
  return end;
}
