// The words after --copy-forward and --copy-backwards.

/** Null: the option was not given. An empty word is no path, so that `--copy-forward=` copies nothing. */
export function pathsIn(raw: string[] | true | undefined): string[] | null {
  if (raw === undefined) return null;
  return raw === true ? [] : raw.filter((word) => word !== "");
}
