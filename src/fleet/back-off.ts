// How long to rest before the next session with a machine whose last ones were of no use. Pure: the clock is an argument.

const LONGEST_REST_MS = 10_000;
/** Sessions that are dropped within this time of each other are in a row. */
const ROW_MS = 60_000;

export class BackOff {
  /** How many sessions in a row broke before they were of any use. */
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

  /** Not every machine that lets us in can be used; it is not asked in a tight loop. */
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
