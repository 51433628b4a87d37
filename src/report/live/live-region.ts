// Redraws the lines at the bottom of a terminal, and keeps other lines above them.

import { stripVTControlCharacters } from "node:util";
import { textWidth } from "../text/width.js";

/** A terminal such as process.stdout: it knows its size, and emits `resize` when that changes. */
export interface TerminalStream extends NodeJS.WritableStream {
  readonly columns?: number;
  readonly rows?: number;
}

// Terminals that support these show the drawing between them at once; other terminals ignore them.
const BEGIN_DRAWING = "\x1b[?2026h";
const END_DRAWING = "\x1b[?2026l";
const ERASE_TO_END_OF_LINE = "\x1b[K";
const ERASE_BELOW = "\x1b[J";

export class LiveRegion {
  readonly #stream: TerminalStream;
  #shown: readonly string[] = [];
  /**
   * Lines of earlier drawings that a smaller window pushed off its top. A larger window shows them again, right above
   * `shown`.
   */
  #pushedOff: readonly string[] = [];
  /** The size of the window at the last drawing. */
  #size = { columns: 0, rows: 0 };

  constructor(stream: TerminalStream) {
    this.#stream = stream;
  }

  /** Draws `lines` in place of the previous ones; `above` goes on top of them and stays. */
  draw(lines: readonly string[], above: readonly string[] = []): void {
    const size = { columns: this.#stream.columns || 80, rows: this.#stream.rows || 24 };
    const isOther = size.columns !== this.#size.columns || size.rows !== this.#size.rows;
    if (above.length === 0 && !isOther && isSame(lines, this.#shown)) return;
    const ours = [...this.#pushedOff, ...this.#shown];
    const isInPlace = above.length === 0 && size === this.#size && this.#pushedOff.length === 0;
    const stays = (line: string, index: number) => isInPlace && line === this.#shown[index];
    // Erases before each line: after a line as wide as the terminal it would erase the last letter.
    const text = [...above, ...lines]
      .map((line, index) => (stays(line, index) ? "\n" : `${ERASE_TO_END_OF_LINE}${line}\n`))
      .join("");
    // A line of `above` may be wider than the terminal, and then continues in a row that has other text.
    const top = `${toTopOf(rowsOf(ours, size.columns))}${above.length > 0 ? ERASE_BELOW : ""}`;
    this.#stream.write(`${BEGIN_DRAWING}${top}${text}${ERASE_BELOW}${END_DRAWING}`);
    const isAlone = above.length === 0 && lines.length > 0;
    this.#pushedOff = isAlone ? this.#outOfReach(ours, size) : [];
    this.#shown = lines;
    this.#size = size;
  }

  /** A window that grew shows this many rows again. At most all rows except the cursor's belong to the drawing. */
  #outOfReach(ours: readonly string[], { columns, rows }: { columns: number; rows: number }): string[] {
    const grown = Math.max(0, rows - this.#size.rows);
    const off = Math.max(rowsOf(this.#pushedOff, columns) - grown, rowsOf(ours, columns) - (rows - 1));
    if (off <= 0) return [];
    return ours.filter((_, index) => rowsOf(ours.slice(0, index), columns) < off);
  }
}

/** The cursor stops at the top of the window. */
function toTopOf(rows: number): string {
  return rows === 0 ? "\r" : `\r\x1b[${rows}A`;
}

/** A terminal that was made narrower has wrapped the lines, so they take more rows. */
function rowsOf(lines: readonly string[], columns: number): number {
  const widths = lines.map((line) => textWidth(stripVTControlCharacters(line)));
  return widths.reduce((sum, width) => sum + Math.max(1, Math.ceil(width / columns)), 0);
}

function isSame(lines: readonly string[], others: readonly string[]): boolean {
  return lines.length === others.length && lines.every((line, index) => line === others[index]);
}
