// The view of `top`: the table of all machines, redrawn in place, with its keys below.

import type { RoomLook } from "../../model/room-look.js";
import { NARROWEST, type RoomOrder, roomTable } from "../tables/room-table.js";
import { printable } from "../text/printable.js";
import type { TerminalStream } from "./live-region.js";
import { type Drawing, Redrawn } from "./redrawn.js";
import { type Canvas, formatSpans, type Look, lookOf, type Span, span } from "./styled-text.js";

export interface TopViewOptions {
  readonly machines: readonly string[];
  readonly stream: TerminalStream;
  readonly now: () => number;
  readonly useColour: boolean;
  readonly useUnicode: boolean;
}

/** Owns a timer; close() it. */
export class TopView {
  readonly #stream: TerminalStream;
  readonly #now: () => number;
  readonly #look: Look;
  readonly #redrawn: Redrawn;
  readonly #looks: Map<string, RoomLook>;
  #order: RoomOrder = "machine";
  #widths = NARROWEST;
  #notes: string[] = [];

  constructor(options: TopViewOptions) {
    this.#stream = options.stream;
    this.#now = options.now;
    this.#look = lookOf(options);
    this.#looks = new Map(options.machines.map((machine) => [machine, { machine, kind: "connecting" }]));
    this.#redrawn = new Redrawn({
      stream: options.stream,
      now: options.now,
      draw: () => this.#drawn(),
      drawHidden: () => ({ lines: [], above: this.#takeNotes() }),
      drawLast: () => ({ lines: [], above: [...this.#takeNotes(), ...this.#tableLines(this.#canvas())] }),
    });
    this.#redrawn.draw();
  }

  show(look: RoomLook): void {
    this.#looks.set(look.machine, look);
    this.#redrawn.change();
  }

  /** The same order again means the order of the machines. */
  sortBy(order: RoomOrder): void {
    this.#order = this.#order === order ? "machine" : order;
    this.#redrawn.draw();
  }

  /** Stays above the table. */
  note(message: string): void {
    this.#notes.push(printable(message));
    this.#redrawn.change();
  }

  hide(isHidden: boolean): void {
    this.#redrawn.hide(isHidden);
  }

  /** The last table stays, without the keys. */
  close(): void {
    this.#redrawn.close();
  }

  #drawn(): Drawing {
    const canvas = this.#canvas();
    const lines = this.#tableLines(canvas);
    // One row for the keys, and one for the cursor.
    const room = Math.max(2, canvas.rows - 2);
    const shown = lines.length <= room ? lines : cutLines(lines, room, canvas);
    const keys = formatSpans(keysLine(this.#order, canvas), canvas);
    return { lines: [...shown, keys], above: this.#takeNotes() };
  }

  #tableLines(canvas: Canvas): string[] {
    const { lines, widths } = roomTable([...this.#looks.values()], this.#order, canvas, this.#widths);
    this.#widths = widths;
    return lines.map((line) => formatSpans(line, canvas));
  }

  #takeNotes(): string[] {
    const notes = this.#notes;
    this.#notes = [];
    return notes;
  }

  #canvas(): Canvas {
    const { columns, rows } = this.#stream;
    return { columns: columns || 80, rows: rows || 24, now: this.#now(), look: this.#look };
  }
}

function cutLines(lines: readonly string[], room: number, canvas: Canvas): string[] {
  const shown = lines.slice(0, room - 1);
  return [...shown, formatSpans([span(`${lines.length - shown.length} more rows`, "dim")], canvas)];
}

function keysLine(order: RoomOrder, { look }: Canvas): Span[] {
  const keys = (["memory", "use", "who"] as const).map(
    (each) => `${each.slice(0, 1)} ${each === order ? "machines" : each}`,
  );
  const sorted = order === "machine" ? [] : [`by ${order}`];
  return [span([...sorted, ...keys, "q leave"].join(look.keyGap), "dim")];
}
