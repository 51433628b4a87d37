// The line that shows on a terminal how far the waiting is. In a pipe there is none.

import type { BatchState } from "../../model/batch-state.js";
import { waitingLine } from "../../report/lines/wait-lines.js";
import { LiveRegion } from "../../report/live/live-region.js";
import { printable } from "../../report/text/printable.js";
import { tableLook } from "./table-look.js";

const REDRAW_MS = 1000;

/** Owns a timer; close() it. */
export class WaitingDisplay {
  readonly #region = process.stderr.isTTY ? new LiveRegion(process.stderr) : null;
  readonly #states = new Map<string, BatchState>();
  readonly #since = Date.now();
  readonly #timer: NodeJS.Timeout | null;
  #isSuspended = false;

  constructor() {
    this.#timer = this.#region === null ? null : setInterval(() => this.#draw(), REDRAW_MS);
  }

  noteState(stem: string, state: BatchState): void {
    this.#states.set(stem, state);
  }

  /** Stays above the line. */
  note(message: string): void {
    if (this.#region === null) process.stderr.write(`${printable(message)}\n`);
    else this.#draw([printable(message)]);
  }

  /** While a question is asked on the terminal. */
  suspend(): void {
    this.#isSuspended = true;
    this.#region?.draw([]);
  }

  resume(): void {
    this.#isSuspended = false;
  }

  close(): void {
    if (this.#timer !== null) clearInterval(this.#timer);
    this.#region?.draw([]);
  }

  #draw(above: readonly string[] = []): void {
    const batches = [...this.#states].map(([stem, state]) => ({ stem, state }));
    if (this.#isSuspended) return this.#region?.draw([], above);
    const columns = process.stderr.columns || 80;
    const line = waitingLine(batches, Date.now() - this.#since, { ...tableLook(), columns });
    this.#region?.draw(batches.length === 0 ? [] : [line], above);
  }
}
