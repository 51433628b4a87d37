// The view of `show -i`: queues and their jobs, redrawn in place, with its keys below.

import { type QueueChoice, type QueueOrder, queueLines, type ShownQueues } from "../tables/queue-lines.js";
import { NARROWEST_QUEUE } from "../tables/queue-table.js";
import type { TerminalStream } from "./live-region.js";
import { Redrawn } from "./redrawn.js";
import { formatSpans, type Look, lookOf, span } from "./styled-text.js";

export interface QueueViewOptions {
  readonly stream: TerminalStream;
  readonly now: () => number;
  readonly useColour: boolean;
  readonly useUnicode: boolean;
  readonly choice: QueueChoice;
}

/** Owns a timer; close() it. */
export class QueueView {
  readonly #stream: TerminalStream;
  readonly #now: () => number;
  readonly #look: Look;
  readonly #redrawn: Redrawn;
  #choice: QueueChoice;
  #shown: ShownQueues = { queues: [], jobs: [] };
  #widths = NARROWEST_QUEUE;
  #offset = 0;

  constructor(options: QueueViewOptions) {
    this.#stream = options.stream;
    this.#now = options.now;
    this.#look = lookOf(options);
    this.#choice = options.choice;
    this.#redrawn = new Redrawn({
      stream: options.stream,
      now: options.now,
      draw: () => ({ lines: this.#drawn() }),
      drawHidden: () => ({ lines: [] }),
      drawLast: () => ({ lines: this.#window(this.#lines()) }),
    });
  }

  show(shown: ShownQueues): void {
    this.#shown = shown;
    this.#redrawn.change();
  }

  /** The same order again means the order by state. */
  sortBy(order: QueueOrder): void {
    this.#choice = { ...this.#choice, order: this.#choice.order === order ? "state" : order };
    this.#redrawn.draw();
  }

  /** In lines, or in windows. */
  scroll(by: number, unit: "line" | "window"): void {
    this.#offset += by * (unit === "line" ? 1 : this.#room());
    this.#redrawn.draw();
  }

  hide(isHidden: boolean): void {
    this.#redrawn.hide(isHidden);
  }

  /** The last lines stay, without the keys. */
  close(): void {
    this.#redrawn.close();
  }

  #drawn(): string[] {
    const lines = this.#lines();
    return [...this.#window(lines), this.#keysLine(lines.length)];
  }

  #lines(): string[] {
    const canvas = { columns: this.#columns(), rows: 0, now: this.#now(), look: this.#look };
    const look = { signs: this.#look, columns: canvas.columns, now: canvas.now };
    const { lines, widths } = queueLines(this.#shown, this.#choice, look, this.#widths);
    this.#widths = widths;
    return lines.map((line) => formatSpans(line, canvas));
  }

  #window(lines: readonly string[]): readonly string[] {
    const room = this.#room();
    this.#offset = Math.max(0, Math.min(this.#offset, lines.length - room));
    return lines.slice(this.#offset, this.#offset + room);
  }

  /** One row is for the keys, and one for the cursor. */
  #room(): number {
    return Math.max(2, (this.#stream.rows || 24) - 2);
  }

  #columns(): number {
    return this.#stream.columns || 80;
  }

  #keysLine(count: number): string {
    const { order } = this.#choice;
    const sorts = (["id", "time", "priority"] as const).map(
      (each) => `${each.slice(0, 1)} ${each === order ? "state" : each}`,
    );
    const scrolls = count > this.#room() ? ["j k scroll"] : [];
    const sorted = order === "state" ? [] : [`by ${order}`];
    const keys = [...sorted, ...sorts, ...scrolls, "q leave"].join(this.#look.keyGap);
    return formatSpans([span(keys, "dim")], {
      columns: this.#columns(),
      rows: 0,
      now: this.#now(),
      look: this.#look,
    });
  }
}
