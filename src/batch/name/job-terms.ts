// Parses words that name jobs: `7`, `3-7`, `1,4-6`, a glob, or a name. Pure.

import { UserError } from "../../errors.js";

export type JobTerm = { readonly word: string } & (
  | { readonly kind: "range"; readonly first: number; readonly last: number }
  | { readonly kind: "glob"; readonly pattern: RegExp }
  | { readonly kind: "name" }
);

/** Throws UserError for a range that runs backwards, and for an invalid glob. */
export function parseJobTerms(words: readonly string[]): JobTerm[] {
  return words
    .flatMap((word) => (/^\d[\d-]*(,\d[\d-]*)+$/.test(word) ? word.split(",") : [word]))
    .map(parseTerm);
}

function parseTerm(word: string): JobTerm {
  const [, first, last = first] = /^(\d{1,10})(?:-(\d{1,10}))?$/.exec(word) ?? [];
  if (first !== undefined) {
    if (Number(first) <= Number(last))
      return { kind: "range", word, first: Number(first), last: Number(last) };
    throw new UserError(`${word} is not a range`, { hint: `${last}-${first}` });
  }
  return /[*?[]/.test(word) ? { kind: "glob", word, pattern: globPattern(word) } : { kind: "name", word };
}

/** As a shell matches names: `*`, `?` and `[abc]`. A bracket that is not closed is literal. */
function globPattern(glob: string): RegExp {
  const parts = glob.match(/\*+|\?|\[!?[^\]]+\]|[\s\S]/g) ?? [];
  try {
    return new RegExp(`^${parts.map(partPattern).join("")}$`, "s");
  } catch (cause) {
    throw new UserError(`${glob}: the brackets have no valid range of letters`, {
      hint: "for example [a-c]",
      cause,
    });
  }
}

function partPattern(part: string): string {
  if (part.startsWith("*")) return ".*";
  if (part === "?") return ".";
  if (part.length === 1) return part.replace(/[\\^$.*+?()[\]{}|/]/g, "\\$&");
  const [, not, letters = ""] = /^\[(!?)([^\]]+)\]$/.exec(part) ?? [];
  return `[${not === "!" ? "^" : ""}${letters.replace(/[\\^[\]]/g, "\\$&")}]`;
}
