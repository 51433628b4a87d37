// A part of the rows that a command prints: from an offset on, at most so many, and at most so many bytes.

import type { Row } from "../call/own-command.js";
import { shrink } from "./shrink.js";

/** Of the rows of an answer. The rest of an answer is small. */
export const ROW_BYTES = 24_000;
/** Of one row: longer texts and lists in it are cut. */
export const ONE_ROW_BYTES = 6_000;

export interface WindowOrder {
  readonly offset: number;
  readonly limit: number;
  /** Empty: all. */
  readonly fields: readonly string[];
}

export class RowWindow {
  readonly rows: Row[] = [];
  /** All that were offered. */
  total = 0;
  readonly #order: WindowOrder;
  #bytes = 0;
  #isFull = false;

  constructor(order: Partial<WindowOrder> = {}) {
    this.#order = { offset: 0, limit: Number.POSITIVE_INFINITY, fields: [], ...order };
  }

  /** True: the row is part of the answer. */
  offer(row: Row): boolean {
    const at = this.total;
    this.total += 1;
    const { offset, limit, fields } = this.#order;
    if (at < offset || this.#isFull) return false;
    const shown = shrink(chosen(row, fields), ONE_ROW_BYTES);
    const bytes = Buffer.byteLength(JSON.stringify(shown)) + 1;
    this.#isFull = this.rows.length >= limit || this.#bytes + bytes > ROW_BYTES;
    if (this.#isFull) return false;
    this.rows.push(shown);
    this.#bytes += bytes;
    return true;
  }

  /** Where the next call goes on; null: these were the last rows. */
  get nextOffset(): number | null {
    const next = this.#order.offset + this.rows.length;
    return next < this.total ? next : null;
  }

  get page(): { readonly total: number; readonly nextOffset: number | null } {
    return { total: this.total, nextOffset: this.nextOffset };
  }
}

/** Without the version of the format, which the page of the tools has. */
function chosen(row: Row, fields: readonly string[]): Row {
  const { v: _, ...rest } = row;
  if (fields.length === 0) return rest;
  return Object.fromEntries(Object.entries(rest).filter(([name]) => fields.includes(name)));
}
