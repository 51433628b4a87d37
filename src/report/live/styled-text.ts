// A line of the live view: pieces of text, each with a style, cut to the terminal's width before they are painted.

import { Chalk } from "chalk";
import { type Signs, signsOf } from "../text/signs.js";
import { fitWidth, textWidth } from "../text/width.js";

export type Style = "normal" | "dim" | "good" | "bad" | "warn" | "busy" | "lost";

export interface Span {
  readonly text: string;
  readonly style: Style;
}

export interface Look extends Signs {
  readonly paint: (text: string, style: Style) => string;
}

/** The terminal's size and abilities at one moment. */
export interface Canvas {
  readonly columns: number;
  readonly rows: number;
  readonly now: number;
  readonly look: Look;
}

export function lookOf({ useColour, useUnicode }: { useColour: boolean; useUnicode: boolean }): Look {
  // The sixteen basic colours follow the terminal's own theme.
  const chalk = new Chalk({ level: useColour ? 1 : 0 });
  const paints: Record<Style, (text: string) => string> = {
    normal: (text) => text,
    dim: chalk.dim,
    good: chalk.green,
    bad: chalk.red,
    warn: chalk.yellow,
    busy: chalk.cyan,
    lost: chalk.magenta,
  };
  return {
    paint: (text, style) => paints[style](text),
    ...signsOf(useUnicode),
  };
}

/** Tabs become single spaces, because the width of a tab depends on its position. */
export function span(text: string, style: Style = "normal"): Span {
  return { text: text.replaceAll("\t", " "), style };
}

export function formatSpans(spans: readonly Span[], { columns, look }: Canvas): string {
  let room = columns;
  let line = "";
  for (const { text, style } of spans) {
    const fitted = fitWidth(text, room, look.ellipsis);
    if (fitted !== "") line += look.paint(fitted, style);
    if (fitted !== text) break;
    room -= textWidth(fitted);
  }
  return line;
}
