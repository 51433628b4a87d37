// Earlier results of jobs, by their names in job_results/: `<job>.old-1`, `<job>.again-2`, and of output alone `<job>.out.old-1`. In
// each series the highest number is the newest.

/** What follows the name of a job: groups such as `.old-1`, then a stream. Beyond 15 digits, a number and the next one are equal. */
const SUFFIX = /((?:\.(?:old|again)-\d{1,15})*)((?:\.(?:out|err)(?:\.old-\d{1,15})?)?)$/;
const GROUP = /^\.(?:old|again)-\d{1,15}/;
const STREAM_ASIDE = /^\.(?:out|err)\.old-\d{1,15}$/;
const NUMBERED = /^(.*-)(\d+)$/s;

export interface Suffixed {
  readonly base: string;
  readonly groups: string;
  readonly stream: string;
}

export function splitName(entry: string): Suffixed {
  const [, groups = "", stream = ""] = SUFFIX.exec(entry) ?? [];
  return { base: entry.slice(0, entry.length - groups.length - stream.length), groups, stream };
}

/** The names that a job can have whose results these are, the longest first: a job may be called `x.old-1`. */
export function namesIn(base: string, groups: string): string[] {
  const parts = groups.match(/\.(?:old|again)-\d+/g) ?? [];
  return [base, ...parts.map((_, index) => base + parts.slice(0, index + 1).join(""))].reverse();
}

/** What is renamed or removed as one: all that begins with it has the same number. */
export function rootOf(entry: string): string {
  const { base, groups, stream } = splitName(entry);
  const group = GROUP.exec(groups)?.[0];
  if (group !== undefined) return base + group;
  return STREAM_ASIDE.test(stream) ? base + stream : base;
}

/** `train.sh.3.old-2` is number 2 of the series `train.sh.3.old-`. Null: it is no earlier result. */
export function parseRoot(root: string): { readonly series: string; readonly number: number } | null {
  const [, series, digits] = root === splitName(root).base ? [] : (NUMBERED.exec(root) ?? []);
  return series === undefined ? null : { series, number: Number(digits) };
}

/** Of each series: the numbers that are given. */
export type Series = Map<string, Set<number>>;

export function seriesIn(entries: Iterable<string>): Series {
  const found: Series = new Map();
  for (const entry of entries) {
    const parsed = parseRoot(rootOf(entry));
    if (parsed === null) continue;
    const numbers = found.get(parsed.series) ?? new Set();
    found.set(parsed.series, numbers.add(parsed.number));
  }
  return found;
}

/** The next number, above all others: one that is free below them would count as old. `first`: of an empty series. */
export function takeNumber(series: Series, name: string, first: number): number {
  const numbers = series.get(name) ?? new Set();
  const number = Math.max(first - 1, ...numbers) + 1;
  series.set(name, numbers.add(number));
  return number;
}

/** The series of a job's earlier results. */
export function seriesOf(job: string): string[] {
  return [`${job}.old-`, `${job}.again-`, `${job}.out.old-`, `${job}.err.old-`];
}

/** Those of a series that are more than `most`, oldest first. */
export function surplusOf(series: Series, name: string, most: number): string[] {
  const newestFirst = [...(series.get(name) ?? [])].sort((one, other) => other - one);
  return newestFirst
    .slice(most)
    .reverse()
    .map((number) => `${name}${number}`);
}
