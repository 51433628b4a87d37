// A value as part of a line of shell: it arrives as exactly that text, wherever in the line it stands.

import { UserError } from "../errors.js";
import type { Placeholder } from "../model/sweep.js";

/** Plain values stay as they were typed, for people who read the line. */
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
