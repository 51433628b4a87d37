// Whose the entries of job_results/ are, and which earlier results are more than may stay.

import { namesIn, rootOf, seriesIn, splitName, surplusOf } from "./generations.js";

export interface BatchFiles {
  /** In place: entries by the name of their job. */
  readonly current: ReadonlyMap<string, readonly string[]>;
  /** Entries by what they are removed with, such as `train.sh.3.old-1`. */
  readonly earlier: ReadonlyMap<string, readonly string[]>;
}

export interface Owners {
  /** What the names of each batch's jobs begin with. */
  readonly stems: readonly string[];
  /** Names of jobs, with the stem of their batch: a job may be called `x.old-1`, or as another script is. */
  readonly jobs: ReadonlyMap<string, string>;
}

/** By batch. Null: of none of them, and nothing of it is earlier. */
export function filesByBatch(entries: readonly string[], owners: Owners): Map<string | null, BatchFiles> {
  const found = new Map<string | null, { current: Map<string, string[]>; earlier: Map<string, string[]> }>();
  for (const entry of entries) {
    const { stem, name } = ownerOf(entry, owners);
    const files = found.get(stem) ?? { current: new Map(), earlier: new Map() };
    found.set(stem, files);
    const root = name + rootOf(entry.slice(name.length));
    const those = root === name ? files.current : files.earlier;
    those.set(root, [...(those.get(root) ?? []), entry]);
  }
  return found;
}

/** A job by its name, the longest that fits; else the batch with the longest stem: `train.sh.bak.3` is not of `train.sh`. */
function ownerOf(entry: string, { stems, jobs }: Owners): { stem: string | null; name: string } {
  const { base, groups } = splitName(entry);
  const name = namesIn(base, groups).find((each) => jobs.has(each));
  if (name !== undefined) return { stem: jobs.get(name) ?? null, name };
  const fitting = stems.filter((stem) => base === stem || base.startsWith(`${stem}.`));
  const [stem] = fitting.sort((one, other) => other.length - one.length);
  return stem === undefined ? { stem: null, name: entry } : { stem, name: base };
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
