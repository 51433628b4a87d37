// Asks bash about many lines at once, each of them perhaps a whole command.

import type { AskBash } from "./ask-bash.js";

/** A line that opens something that another line may close cannot be in the same question. */
export function isEven(line: string): boolean {
  if (line.includes("<<") || line.endsWith("\\")) return false;
  const count = (char: string) => line.split(char).length;
  const isPaired = ['"', "'", "`"].every((quote) => count(quote) % 2 === 1);
  return isPaired && ["()", "{}", "[]"].every(([open = "", close = ""]) => count(open) === count(close));
}

/** True if each line alone is a whole command; false: perhaps not. */
export async function areWhole(lines: readonly string[], ask: AskBash): Promise<boolean> {
  const verdict = await ask(lines.map(enclose).join(""));
  return verdict.kind === "taken" && verdict.heredocs.length === 0;
}

/**
 * Puts the line in brackets that fit only around a whole command. After them comes each kind of quote with a text that
 * is a mistake outside quotes: if a quote in the line is open, inside and outside are swapped.
 */
function enclose(line: string): string {
  return `( {\n${line}\n} )\n: ");" ');' \`);\`\n`;
}
