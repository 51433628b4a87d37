// The lines at the bottom of a terminal that are drawn over and over, and what is left standing above them.

import { stripVTControlCharacters } from "node:util";
import { textWidth } from "../text/width.js";

/** A terminal such as process.stdout: it tells its size, and says `resize` when that changes. */
export interface TerminalStream extends NodeJS.WritableStream {
  readonly columns?: number;
  readonly rows?: number;
}

// Terminals that know these two show the drawing between them at once; the others ignore them.
const BEGIN_DRAWING = "\x1b[?2026h";
const END_DRAWING = "\x1b[?2026l";
const ERASE_TO_END_OF_LINE = "\x1b[K";
const ERASE_BELOW = "\x1b[J";

export class LiveRegion {
  readonly #stream: TerminalStream;
  #shown: readonly string[] = [];
  /** Of earlier drawings: what a smaller window pushed off its top. A larger one brings it back, right above `shown`. */
  #pushedOff: readonly string[] = [];
  /** Of the window, when it was last drawn on. */
  #size = "";

  constructor(stream: TerminalStream) {
    this.#stream = stream;
  }

  /** Draws `lines` in place of those drawn before; `above` goes on top of them and stays. */
  draw(lines: readonly string[], above: readonly string[] = []): void {
    const size = `${this.#stream.columns}x${this.#stream.rows}`;
    if (above.length === 0 && size === this.#size && isSame(lines, this.#shown)) return;
    const ours = [...this.#pushedOff, ...this.#shown];
    const isInPlace = above.length === 0 && size === this.#size && this.#pushedOff.length === 0;
    const stays = (line: string, index: number) => isInPlace && line === this.#shown[index];
    // Erasing comes before each line: after a line as wide as the terminal it would erase the last letter.
    const text = [...above, ...lines]
      .map((line, index) => (stays(line, index) ? "\n" : `${ERASE_TO_END_OF_LINE}${line}\n`))
      .join("");
    // What goes on top may be wider than the terminal, and then goes on in a row that something else stands in.
    const top = `${this.#toTopOf(ours)}${above.length > 0 ? ERASE_BELOW : ""}`;
    this.#stream.write(`${BEGIN_DRAWING}${top}${text}${ERASE_BELOW}${END_DRAWING}`);
    const isAlone = above.length === 0 && lines.length > 0;
    this.#pushedOff = isAlone ? this.#outOfReach(ours) : [];
    this.#shown = lines;
    this.#size = size;
  }

  /** As far as the cursor goes: it stops at the top of the window. */
  #toTopOf(lines: readonly string[]): string {
    const rows = lines.reduce((sum, line) => sum + this.#rowsOf(line), 0);
    return rows === 0 ? "\r" : `\r\x1b[${rows}A`;
  }

  /** Those at the top that the window is too low for. */
  #outOfReach(lines: readonly string[]): readonly string[] {
    let room = (this.#stream.rows || 24) - 1;
    const first = lines.findLastIndex((line) => {
      room -= this.#rowsOf(line);
      return room < 0;
    });
    return lines.slice(0, first + 1);
  }

  /** A terminal that was made narrower has wrapped our lines. */
  #rowsOf(line: string): number {
    const columns = this.#stream.columns || 80;
    return Math.max(1, Math.ceil(textWidth(stripVTControlCharacters(line)) / columns));
  }
}

function isSame(lines: readonly string[], others: readonly string[]): boolean {
  return lines.length === others.length && lines.every((line, index) => line === others[index]);
}
