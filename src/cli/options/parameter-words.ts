// Takes the words after each -p of a sweep out of the command line before the rest is parsed. A general parser does not
// keep which words belong to which -p, and takes -1 for an option.

export interface SeparatedWords {
  readonly rest: readonly string[];
  /** The words of each -p. */
  readonly parameters: readonly (readonly string[])[];
}

const LONG = "--parameter";
const FLAG = /^(--p\w*)(?:=(.*))?$|^-p(.*)$/s;

export function separateParameters(argv: readonly string[]): SeparatedWords {
  const rest: string[] = [];
  const parameters: string[][] = [];
  let group: string[] | null = null;
  for (const [index, word] of argv.entries()) {
    if (word === "--") return { rest: [...rest, ...argv.slice(index)], parameters };
    const flag = FLAG.exec(word);
    if (flag !== null && LONG.startsWith(flag[1] ?? LONG)) {
      const joined = flag[2] ?? flag[3] ?? "";
      group = joined === "" ? [] : [joined];
      parameters.push(group);
    } else if (isOption(word)) {
      group = null;
      rest.push(word);
    } else {
      (group ?? rest).push(word);
    }
  }
  return { rest, parameters };
}

/** As in simple_hypersearch's parser: neither a negative number, nor several words in one. */
function isOption(word: string): boolean {
  return /^-./s.test(word) && !/^-\.?\d/.test(word) && !word.includes(" ");
}
