// Computes how long to wait before the next session with a machine after useless ones. Pure: the clock is an argument.

const LONGEST_REST_MS = 10_000;
/** Sessions that are dropped within this time of each other count as in a row. */
const ROW_MS = 60_000;

export class BackOff {
  /** How many sessions in a row broke before they were useful. */
  #uselessInRow = 0;
  #dropsInRow = 0;
  #droppedAt = Number.NEGATIVE_INFINITY;

  /** How many sessions in a row were dropped. */
  get dropsInRow(): number {
    return this.#dropsInRow;
  }

  get isResting(): boolean {
    return this.#uselessInRow + this.#dropsInRow > 0;
  }

  /** A machine may accept the login and still be unusable; this prevents a tight loop of connections. */
  restMs(): number {
    const times = Math.max(this.#uselessInRow, this.#dropsInRow);
    return times === 0 ? 0 : Math.min(100 * 2 ** times, LONGEST_REST_MS);
  }

  noteOpened(): void {
    this.#uselessInRow++;
  }

  noteDropped(now: number): void {
    this.#dropsInRow = now - this.#droppedAt < ROW_MS ? this.#dropsInRow + 1 : 1;
    this.#droppedAt = now;
  }

  noteUseful(now: number): void {
    this.#uselessInRow = 0;
    if (now - this.#droppedAt > ROW_MS) this.#dropsInRow = 0;
  }
}
