// Which rows a client has been given, by cursor, so that its next call gets only what is new or has changed.

import { createHash } from "node:crypto";
import { UserError } from "../../errors.js";

/** A client holds one cursor for each batch that it watches. */
export const MOST_CURSORS = 64;

/** What each row was, by the name of its job. */
export type Given = ReadonlyMap<string, string>;

export class Seen {
  readonly #byCursor = new Map<string, Given>();
  #count = 0;

  /** Throws UserError if the cursor is not known. */
  given(cursor: string | undefined): Given {
    if (cursor === undefined) return new Map();
    const given = this.#byCursor.get(cursor);
    if (given !== undefined) return given;
    throw new UserError(`cursor: ${cursor} is not known, or no longer`, {
      hint: "leave the cursor out, to get all rows and a new cursor",
    });
  }

  /** Returns the cursor for what was given now, added to what was given before. */
  note(before: Given, now: Given): string {
    this.#count += 1;
    const cursor = `c${this.#count}`;
    this.#byCursor.set(cursor, new Map([...before, ...now]));
    const [oldest] = this.#byCursor.keys();
    if (this.#byCursor.size > MOST_CURSORS && oldest !== undefined) this.#byCursor.delete(oldest);
    return cursor;
  }
}

export function digest(value: unknown): string {
  return createHash("sha256").update(JSON.stringify(value)).digest("base64url").slice(0, 12);
}
