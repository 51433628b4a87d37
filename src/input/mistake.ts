// A mistake has an offset in the text; a problem is for people and has file:line:column.

import type { Problem } from "../errors.js";

export interface Mistake {
  /** In characters from the start of the text. */
  readonly offset: number;
  readonly message: string;
  readonly hint?: string;
}

/** Both count from 1. */
export type PositionOf = (offset: number) => { readonly line: number; readonly column: number };

/** In the order of the text, in which a user fixes them. */
export function toProblems(mistakes: readonly Mistake[], whereIs: (offset: number) => string): Problem[] {
  return [...mistakes]
    .sort((a, b) => a.offset - b.offset)
    .map(({ offset, ...said }) => ({ where: whereIs(offset), ...said }));
}
