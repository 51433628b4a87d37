// Many lines, each of them perhaps a whole command: bash is asked about all of them at once.

import type { AskBash } from "./ask-bash.js";

/** A line that opens what another may close cannot be asked about together with that one. */
export function isEven(line: string): boolean {
  if (line.includes("<<") || line.endsWith("\\")) return false;
  const count = (char: string) => line.split(char).length;
  const isPaired = ['"', "'", "`"].every((quote) => count(quote) % 2 === 1);
  return isPaired && ["()", "{}", "[]"].every(([open = "", close = ""]) => count(open) === count(close));
}

/** Each alone, without the others. False: perhaps not. */
export async function areWhole(lines: readonly string[], ask: AskBash): Promise<boolean> {
  const verdict = await ask(lines.map(enclose).join(""));
  return verdict.kind === "taken" && verdict.heredocs.length === 0;
}

/**
 * In brackets that only a whole command leaves alone; and after them each kind of quote, with something in it that is a
 * mistake outside: should a quote be open, inside and outside change places.
 */
function enclose(line: string): string {
  return `( {\n${line}\n} )\n: ");" ');' \`);\`\n`;
}
