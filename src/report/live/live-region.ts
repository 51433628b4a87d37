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

  constructor(stream: TerminalStream) {
    this.#stream = stream;
  }

  /** Draws `lines` in place of those drawn before; `above` goes on top of them and stays. */
  draw(lines: readonly string[], above: readonly string[] = []): void {
    if (above.length === 0 && isSame(lines, this.#shown)) return;
    // Erasing comes before each line: after a line as wide as the terminal it would erase the last letter.
    const text = [...above, ...lines].map((line) => `${ERASE_TO_END_OF_LINE}${line}\n`).join("");
    // What goes on top may be wider than the terminal, and then goes on in a row that something else stands in.
    const top = `${this.#toTop()}${above.length > 0 ? ERASE_BELOW : ""}`;
    this.#stream.write(`${BEGIN_DRAWING}${top}${text}${ERASE_BELOW}${END_DRAWING}`);
    this.#shown = lines;
  }

  /** A terminal that was made narrower has wrapped our lines: they take more rows than they are. */
  #toTop(): string {
    const columns = this.#stream.columns || 80;
    const rowsOf = (line: string) => Math.ceil(textWidth(stripVTControlCharacters(line)) / columns);
    const rows = this.#shown.reduce((sum, line) => sum + Math.max(1, rowsOf(line)), 0);
    return rows === 0 ? "\r" : `\r\x1b[${rows}A`;
  }
}

function isSame(lines: readonly string[], others: readonly string[]): boolean {
  return lines.length === others.length && lines.every((line, index) => line === others[index]);
}
