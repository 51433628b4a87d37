// Whether `--json` is on a command line, also on one that cannot be read: errors have to know it.

/** Shortened as any option can be. Words after `--` are not options. */
export function hasJsonWord(argv: readonly string[]): boolean {
  const end = argv.indexOf("--");
  const words = end === -1 ? argv : argv.slice(0, end);
  return words.some((word) => word.length > 2 && "--json".startsWith(word));
}
