// Quotes a value for a shell line, so that it means exactly that text at any place in the line.

import { UserError } from "../errors.js";
import type { Placeholder } from "../model/sweep.js";

/** Plain values are not quoted, so that the line stays readable. */
export function shellWord(value: string, { name, within, isInBraces }: Placeholder): string {
  switch (within) {
    case "nothing":
      return isPlain(value, isInBraces) ? value : `'${inSingleQuotes(value)}'`;
    case "single quotes":
      return inSingleQuotes(value);
    case "double quotes":
      return value.replace(/["$`\\]/g, "\\$&");
    case "opaque":
      if (isPlain(value, isInBraces)) return value;
      throw new UserError(
        `{${name}} stands within \`…\`, $'…' or "\${…}", where "${value}" cannot be quoted safely`,
        { hint: `use $(…) or plain quotes there, or {${name}!r} to paste the value as it is` },
      );
    default:
      return within satisfies never;
  }
}

function isPlain(value: string, isInBraces: boolean): boolean {
  return (isInBraces ? /^[\w./:@%+-]+$/ : /^[\w./:@%+,-]+$/).test(value);
}

function inSingleQuotes(value: string): string {
  return value.replaceAll("'", "'\\''");
}
