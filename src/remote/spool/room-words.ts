// Words of the text that the allocator on a machine reads: whole numbers, and names without blanks.

import type { Gpu } from "../../model/machine.js";

/** awk reads numbers of at most 12 digits; no machine has as much as nine of them mean. */
const MOST = 999_999_999;

/** Rounded up, so that no job gets less than it needs. */
export function megabytes(mb: number): number {
  return Math.min(MOST, Math.max(0, Math.ceil(mb)));
}

export function thousandths(amount: number): number {
  return Math.min(MOST, Math.max(0, Math.round(amount * 1000)));
}

export function plainWord(text: string): string {
  return text.replace(/[^\w.@%+/-]/g, "?") || "-";
}

/** Slices of one card have its index, so their UUIDs name them. */
export function cardWord({ index, uuid, isMig }: Gpu): string {
  return isMig ? plainWord(uuid) : `${index}`;
}
