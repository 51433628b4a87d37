// The names that an ssh configuration gives to hosts, for suggestions and completion alone: what they mean is for ssh to say.

/** Without patterns, and without included files. */
export function parseAliases(text: string): string[] {
  return [...new Set(wordsAfter("host", text).filter((word) => !/[*?!]/.test(word)))];
}

/** The files that a configuration includes, as it names them. */
export function parseIncludes(text: string): string[] {
  return wordsAfter("include", text);
}

function wordsAfter(keyword: string, text: string): string[] {
  const shape = new RegExp(`^\\s*${keyword}(?:\\s*=\\s*|\\s+)([^#]*)`, "i");
  const lines = text.split(/\r?\n/).map((line) => shape.exec(line)?.[1] ?? "");
  return lines.flatMap((line) => line.replaceAll('"', "").split(/\s+/)).filter((word) => word !== "");
}
