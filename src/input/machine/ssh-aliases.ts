// Reads the names of hosts from an ssh configuration, only for "did you mean …?": ssh decides what they mean.

/** Without patterns, and without included files. */
export function parseAliases(text: string): string[] {
  const lines = text.split(/\r?\n/).map((line) => /^\s*host(?:\s*=\s*|\s+)([^#]*)/i.exec(line)?.[1] ?? "");
  const words = lines.flatMap((line) => line.replaceAll('"', "").split(/\s+/));
  return [...new Set(words.filter((word) => word !== "" && !/[*?!]/.test(word)))];
}
