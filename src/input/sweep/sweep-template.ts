// Parses the command of a sweep into text and placeholders, with the shell quoting around each. `{name}` is a
// placeholder, `{name:0>4}` one with a width as in Python; `{{` and `}}` are literal braces. All other braces belong to
// bash, JSON or awk and stay: `${HOME}`, `{1..3}`, `{a,b}`, `{ …; }`.

import type { Padding, Template } from "../../model/sweep.js";
import { ShellReader } from "./shell-reader.js";

/** Text such as `{lr:.3f}`, which looks like a placeholder but is none. */
interface Malformed {
  readonly text: string;
  readonly name: string;
}

export interface ParsedTemplate {
  readonly template: Template;
  readonly malformed: readonly Malformed[];
}

/** Names of parameters: letters, digits and _; a dash or a dot inside. */
const NAME = "[A-Za-z_]\\w*(?:[.-]\\w+)*";
const PLACE = new RegExp(`\\{(${NAME})(:[^{}][<>^][\\w.]*|[!:][^\\s{},]*)?\\}`, "y");
/** As in Python, for text. */
const PADDING = /^:(?:(?<fill>.)?(?<align>[<>^]))?(?<zero>0)?(?<width>\d{1,3})?(?:\.(?<most>\d{1,3}))?s?$/su;

export function isName(text: string): boolean {
  return new RegExp(`^${NAME}$`).test(text);
}

export function parseTemplate(text: string): ParsedTemplate {
  const pieces: Template[number][] = [];
  const malformed: Malformed[] = [];
  const shell = new ShellReader();
  const braces = new Braces();
  let plain = "";
  for (let at = 0; at < text.length; ) {
    const place = shell.isEscaped || text[at - 1] === "$" ? null : matchAt(text, at);
    const [whole = "", name = "", suffix = ""] = place ?? [];
    const padding = parsePadding(suffix);
    if (place !== null && (suffix === "" || suffix === "!r" || padding !== null)) {
      const { isInBraces, isInExpansion } = braces;
      const within = shell.within === "double quotes" && isInExpansion ? "opaque" : shell.within;
      pieces.push(plain, { name, isRaw: suffix === "!r", padding, within, isInBraces });
      plain = "";
      at += whole.length;
      continue;
    }
    if (place !== null) malformed.push({ text: whole, name });
    const taken = shell.isEscaped ? 1 : braces.take(text, at);
    plain += text[at];
    shell.take(text[at] ?? "");
    at += taken;
  }
  return { template: [...pieces, plain].filter((piece) => piece !== ""), malformed };
}

function matchAt(text: string, at: number): RegExpExecArray | null {
  PLACE.lastIndex = at;
  return PLACE.exec(text);
}

function parsePadding(suffix: string): Padding | null {
  const { fill, align, zero, width, most } = PADDING.exec(suffix)?.groups ?? {};
  if (width === undefined && most === undefined) return null;
  return {
    fill: fill ?? (zero === undefined ? " " : "0"),
    align: (align ?? "<") as Padding["align"],
    width: Number(width ?? 0),
    most: most === undefined ? null : Number(most),
  };
}

/** Tracks open braces, so that `}}` closes two braces of bash, but is one literal brace after `{{`. */
class Braces {
  readonly #open: ("expansion" | "bash" | "doubled")[] = [];

  /** How many characters of the text make one brace. */
  take(text: string, at: number): 1 | 2 {
    const isDouble = text[at + 1] === text[at];
    if (text[at] === "{") {
      const isExpansion = text[at - 1] === "$";
      this.#open.push(isExpansion ? "expansion" : isDouble ? "doubled" : "bash");
      return isDouble && !isExpansion ? 2 : 1;
    }
    if (text[at] !== "}") return 1;
    const innermost = this.#open.at(-1);
    if (innermost === "expansion" || innermost === "bash" || isDouble) this.#open.pop();
    return isDouble && (innermost === "doubled" || innermost === undefined) ? 2 : 1;
  }

  get isInBraces(): boolean {
    return this.#open.length > 0;
  }

  get isInExpansion(): boolean {
    return this.#open.includes("expansion");
  }
}
