// Whose the entries of job_results/ are, and which earlier results are more than may stay.

import { rootOf, seriesIn, splitName, surplusOf } from "./generations.js";

export interface BatchFiles {
  /** In place: entries by the name of their job. */
  readonly current: ReadonlyMap<string, readonly string[]>;
  /** Entries by what they are removed with, such as `train.sh.3.old-1`. */
  readonly earlier: ReadonlyMap<string, readonly string[]>;
}

/** By batch: `stems` are what the names of their jobs begin with. Null: of none of them, and nothing of it is earlier. */
export function filesByBatch(
  entries: readonly string[],
  stems: readonly string[],
): Map<string | null, BatchFiles> {
  const found = new Map<string | null, { current: Map<string, string[]>; earlier: Map<string, string[]> }>();
  for (const entry of entries) {
    const { base } = splitName(entry);
    const owner = ownerOf(base, stems);
    const files = found.get(owner) ?? { current: new Map(), earlier: new Map() };
    found.set(owner, files);
    const root = owner === null ? entry : rootOf(entry);
    const those = root === base || owner === null ? files.current : files.earlier;
    those.set(root, [...(those.get(root) ?? []), entry]);
  }
  return found;
}

/** The longest that fits: of the scripts `train.sh` and `train.sh.bak`, the second has `train.sh.bak.3`. */
function ownerOf(base: string, stems: readonly string[]): string | null {
  const fitting = stems.filter((stem) => base === stem || base.startsWith(`${stem}.`));
  return fitting.sort((one, other) => other.length - one.length)[0] ?? null;
}

/** `most`: of each series of a job. `isNeeded`: these stay, however old they are. */
export function earlierToRemove(
  { earlier }: Pick<BatchFiles, "earlier">,
  most: number,
  isNeeded: (root: string) => boolean,
): string[] {
  const series = seriesIn(earlier.keys());
  return [...series.keys()]
    .flatMap((name) => surplusOf(series, name, most))
    .filter((root) => !isNeeded(root));
}
