// Cuts a stream of bytes into whole lines.

/** Longer lines are passed on in parts, because a job may print without ever ending a line. */
const LONGEST_LINE = 64 << 10;
const NEWLINE = 10;
const RETURN = 13;

export class LineGatherer {
  /** The beginning of a line that is not complete yet. */
  #rest: Buffer;

  constructor(rest: Buffer = Buffer.alloc(0)) {
    this.#rest = rest;
  }

  /** The lines that are complete now, each with its newline; often none. */
  take(bytes: Buffer): string {
    const end = bytes.lastIndexOf(NEWLINE) + 1;
    const whole = end === 0 ? "" : Buffer.concat([this.#rest, bytes.subarray(0, end)]).toString("utf8");
    // Copied, because a view of a few bytes would keep the whole buffer in memory.
    this.#rest = Buffer.concat(end === 0 ? [this.#rest, bytes] : [bytes.subarray(end)]);
    return whole + this.#takePart();
  }

  /** The last line, if the stream ended without a newline. */
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

/** The last state of a progress bar that is drawn repeatedly on one line. */
function drawnLast(line: Buffer): Buffer {
  let end = line.length;
  while (end > 0 && line[end - 1] === RETURN) end--;
  return end === 0 ? line : line.subarray(line.lastIndexOf(RETURN, end - 1) + 1);
}

/** The length without an incomplete UTF-8 letter at the end. */
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
