// Reads the JSON5 of an option, and says where a mistake is.

import type { UserError } from "../../errors.js";
import { loadJson5 } from "./load-json5.js";

const LONGEST_TEXT = 10_000;

/** `refusal`: makes the error, of what follows the option's name. */
export function readJson5(text: string, refusal: (what: string) => UserError): unknown {
  if (text.length > LONGEST_TEXT) throw refusal(`takes at most ${LONGEST_TEXT} characters`);
  try {
    return loadJson5().parse(text);
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    const { lineNumber: line, columnNumber: column } = error as {
      lineNumber?: number;
      columnNumber?: number;
    };
    const where = line === undefined ? "" : `, line ${line}, column ${column}`;
    const says = error.message.replace(/^JSON5: /, "").replace(/ at \d+:\d+$/, "");
    throw refusal(`${shownText(text)} cannot be read${where}: ${says}`);
  }
}

export function shownText(text: string): string {
  return JSON.stringify(text.length > 60 ? `${text.slice(0, 60)}…` : text);
}

export function shownValue(value: unknown): string {
  return typeof value === "number" ? String(value) : shownText(JSON.stringify(value) ?? String(value));
}
