// A simulated terminal for the live view. It obeys the few sequences that redraw in place, wraps at its width, and
// keeps the cursor off lines that have scrolled away. It rewraps its lines when its width changes, and shows scrolled
// lines again when it is made higher.

import { Writable } from "node:stream";

interface Row {
  text: string;
  /** The line above continues here because of the width. */
  isWrapped: boolean;
}

export class Screen extends Writable {
  writes = 0;
  /** Everything that was written, including cursor movements. */
  written = "";
  #rows: Row[] = [newRow()];
  /** The first line that has not scrolled away. */
  #top = 0;
  #row = 0;
  #column = 0;

  constructor(
    public columns: number,
    public rows: number,
  ) {
    super({ decodeStrings: false });
  }

  override _write(chunk: string, _encoding: string, done: () => void): void {
    this.writes += 1;
    this.written += chunk;
    for (const [token] of chunk.matchAll(/\x1b\[\??[\d;]*[A-Za-z]|[\r\n]|[^\x1b\r\n]/gu)) this.#obey(token);
    done();
  }

  /** Everything above the cursor, including scrolled lines. */
  get lines(): string[] {
    return this.#rows.slice(0, this.#row).map(({ text }) => text.trimEnd());
  }

  /** The text in the cursor's row. */
  get cursorLine(): string {
    return this.#current().text.trimEnd();
  }

  resize(columns: number, rows: number): void {
    const whole: string[] = [];
    let linesAway = 0;
    for (const [index, { text, isWrapped }] of this.#rows.entries()) {
      whole.push(isWrapped ? `${whole.pop()}${text}` : text);
      if (index < this.#top) linesAway = whole.length;
    }
    const grown = rows - this.rows;
    this.columns = columns;
    this.rows = rows;
    this.#rows = [newRow()];
    this.#top = 0;
    this.#row = 0;
    this.#column = 0;
    for (const char of whole.slice(0, linesAway).join("\n")) this.#obey(char);
    const away = linesAway === 0 ? 0 : this.#row + 1;
    for (const char of `${linesAway === 0 ? "" : "\n"}${whole.slice(linesAway).join("\n")}`) this.#obey(char);
    this.#top = Math.max(0, away - Math.max(0, grown), this.#row - rows + 1);
    this.emit("resize");
  }

  #obey(token: string): void {
    if (token === "\n") this.#goTo(this.#row + 1, 0);
    else if (token === "\r") this.#column = 0;
    else if (token === "\x1b[K") this.#current().text = this.#current().text.slice(0, this.#column);
    else if (token === "\x1b[J") this.#rows.splice(this.#row, Number.POSITIVE_INFINITY, newRow());
    else if (/^\x1b\[\d+A$/.test(token)) this.#goUp(Number.parseInt(token.slice(2), 10));
    else if (!token.startsWith("\x1b")) this.#print(token);
    else if (!token.startsWith("\x1b[?") && !token.endsWith("m"))
      throw new Error(`unknown: ${JSON.stringify(token)}`);
  }

  #goUp(rows: number): void {
    this.#goTo(Math.max(this.#top, this.#row - rows), this.#column);
  }

  #goTo(row: number, column: number): void {
    this.#row = row;
    this.#column = column;
    this.#top = Math.max(this.#top, row - this.rows + 1);
    while (this.#rows.length <= row) this.#rows.push(newRow());
  }

  #print(char: string): void {
    if (this.#column === this.columns) {
      this.#goTo(this.#row + 1, 0);
      this.#current().isWrapped = true;
    }
    const row = this.#current();
    const before = row.text.slice(0, this.#column).padEnd(this.#column);
    row.text = before + char + row.text.slice(this.#column + 1);
    this.#column += 1;
  }

  #current(): Row {
    const row = this.#rows[this.#row];
    if (row === undefined) throw new Error("the cursor left the screen");
    return row;
  }
}

function newRow(): Row {
  return { text: "", isWrapped: false };
}
