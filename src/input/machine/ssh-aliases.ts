// The names that an ssh configuration gives to hosts, for "did you mean …?" alone: what they mean is for ssh to say.

/** Without patterns, and without those of included files. */
export function parseAliases(text: string): string[] {
  const lines = text.split(/\r?\n/).map((line) => /^\s*host(?:\s*=\s*|\s+)([^#]*)/i.exec(line)?.[1] ?? "");
  const words = lines.flatMap((line) => line.replaceAll('"', "").split(/\s+/));
  return [...new Set(words.filter((word) => word !== "" && !/[*?!]/.test(word)))];
}
