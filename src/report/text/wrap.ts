// Wraps text to a given width, at spaces.

import { printable } from "./printable.js";
import { fitWidth, textWidth } from "./width.js";

const NARROWEST = 20;

/** Cuts a word that is longer than a line. */
export function wrap(text: string, columns: number): string[] {
  const room = Math.max(NARROWEST, columns);
  const lines: string[] = [];
  let line = "";
  for (const word of printable(text).split(/\s+/).filter(Boolean)) {
    const longer = line === "" ? word : `${line} ${word}`;
    if (line !== "" && textWidth(longer) > room) {
      lines.push(line);
      line = word;
    } else line = longer;
  }
  if (line !== "") lines.push(line);
  return lines.map((part) => fitWidth(part, room));
}
