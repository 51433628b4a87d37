// Explains errors of the YAML parser to people who do not know how it works.

import type { YAMLError } from "yaml";
import type { Mistake } from "../mistake.js";

/** Hints for mistakes that concern the whole file. */
export interface FileHints {
  /** The file has nothing, or no mapping, in it. */
  readonly empty: string;
  readonly secondDocument: string;
}

export function describeSyntax({ code, message, pos: [offset] }: YAMLError, hints: FileHints): Mistake {
  switch (code) {
    case "TAB_AS_INDENT":
      return { offset, message: "a tab cannot indent a line", hint: "use spaces" };
    case "MULTIPLE_DOCS":
      return { offset, message: "a second document begins here", hint: hints.secondDocument };
    case "BLOCK_AS_IMPLICIT_KEY":
      return {
        offset,
        message: "another key: within the value",
        hint: "fix the indentation, or quote the value",
      };
    case "MULTILINE_IMPLICIT_KEY":
      return { offset, message: "expected key: value", hint: "a space must follow the colon" };
    case "BAD_SCALAR_START":
      return {
        offset,
        message: message.replace(/^Plain value .* (\S)$/, "a value cannot begin with $1"),
        hint: "quote it",
      };
    case "RESOURCE_EXHAUSTION":
      return { offset, message: "nested too deeply" };
    default:
      return { offset, message: message.replace("tag:yaml.org,2002:", "!!") };
  }
}
