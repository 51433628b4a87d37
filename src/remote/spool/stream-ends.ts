// The last lines of what jobs printed, out of what a machine sends of many streams in one piece. Pure.

import { wordsAfter } from "../engine/words-after.js";

/** Of one stream: enough for a traceback, and little enough to travel with every failure. */
export const END_BYTES = 2048;
const END_LINES = 20;

/** By attempt. `lines` have the size of each stream, in the order in which they are in `bytes`. */
export function parseEnds(lines: readonly string[], bytes: Buffer): Map<string, string> {
  const ends = new Map<string, string>();
  let start = 0;
  for (const words of wordsAfter("size", lines)) {
    const [key = "", size = ""] = words.split(" ");
    const end = start + Number(size);
    ends.set(key, lastLines(bytes.subarray(start, end)));
    start = end;
  }
  return ends;
}

/** As printed, but for bytes that are no UTF-8. It begins in the middle of a line where that line is too long. */
export function lastLines(bytes: Buffer): string {
  const isCut = bytes.length >= END_BYTES;
  const lines = bytes
    .subarray(isCut ? letterStart(bytes) : 0)
    .toString("utf8")
    .split("\n");
  // After the end of the last line there is one more, which is empty.
  return lines.slice(lines.at(-1) === "" ? -END_LINES - 1 : -END_LINES).join("\n");
}

/** Bytes that belong to a letter before them are left out. */
function letterStart(bytes: Buffer): number {
  const start = bytes.subarray(0, 4).findIndex((byte) => (byte & 0xc0) !== 0x80);
  return start === -1 ? 0 : start;
}
