// A mistake knows where in the text it is; a problem is what people read, as file:line:column.

import type { Problem } from "../errors.js";

export interface Mistake {
  /** In characters from the start of the text. */
  readonly offset: number;
  readonly message: string;
  readonly hint?: string;
}

/** Both count from 1. */
export type PositionOf = (offset: number) => { readonly line: number; readonly column: number };

/** In the order of the text, which is the order in which they will be mended. */
export function toProblems(mistakes: readonly Mistake[], whereIs: (offset: number) => string): Problem[] {
  return [...mistakes]
    .sort((a, b) => a.offset - b.offset)
    .map(({ offset, ...said }) => ({ where: whereIs(offset), ...said }));
}
