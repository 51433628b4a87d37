// Decides which files of job_results/ move when jobs get other names. Never overwrites: if a name is taken, it chooses
// a free number.

import type { JobId } from "../../model/job.js";
import type { FileMove, JobMove } from "../../model/script-edit.js";
import { namesIn, parseRoot, rootOf, seriesIn, splitName, takeNumber } from "../generations.js";

/** The entries that one attempt leaves: its results, stdout and stderr. */
export const ENDINGS = ["", ".out", ".err"] as const;

export interface Renaming {
  /** Jobs that get another name. */
  readonly moves: readonly JobMove[];
  /** Jobs whose results move aside, to `<name>.old-N`. */
  readonly aside: readonly { readonly job: JobId; readonly name: string }[];
  /** Names of all jobs that have an attempt. */
  readonly owners: ReadonlySet<string>;
  /** The entries of job_results/. */
  readonly there: readonly string[];
}

interface Owned {
  readonly entry: string;
  /** The entry's name without the name of its job. */
  readonly rest: string;
}

export function planFiles(renaming: Renaming): { moves: JobMove[]; files: FileMove[] } {
  const { moves, aside, owners, there } = renaming;
  const leaving = new Set([...moves.map(({ from }) => from), ...aside.map(({ name }) => name)]);
  const asideNames = new Set(aside.map(({ name }) => name));
  const owned = ownedBy(there, new Set([...owners, ...leaving]));
  const taken = new Set<string>();
  const staying = new Map<string, string[]>();
  for (const [name, entries] of owned) {
    for (const { entry, rest } of entries) {
      if (leaving.has(name) && (!asideNames.has(name) || isMain(rest))) continue;
      taken.add(rootOf(entry));
      if (isMain(rest)) staying.set(rootOf(entry), [...(staying.get(rootOf(entry)) ?? []), entry]);
    }
  }
  const files: FileMove[] = [];
  const moved: JobMove[] = [...moves];
  for (const { from, to } of moves) files.push(...familyMoves(owned.get(from) ?? [], to, taken));
  const series = seriesIn(taken);
  const takeNext = (stem: string) => `${stem}${takeNumber(series, stem, 1)}`;
  for (const { job, name } of aside) moved.push({ job, from: name, to: takeNext(`${name}.old-`) });
  for (const { to } of moves) {
    const inTheWay = staying.get(to) ?? [];
    if (inTheWay.length === 0) continue;
    const free = takeNext(`${to}.old-`);
    for (const entry of inTheWay) files.push([entry, free + entry.slice(to.length)]);
  }
  return { moves: moved, files };
}

/** Moves of the entries beside one job's results. The results themselves move with the job. */
function familyMoves(owned: readonly Owned[], to: string, taken: Set<string>): FileMove[] {
  const roots = new Map<string, string>();
  const besides = owned.filter(({ rest }) => !isMain(rest)).sort((a, b) => (a.rest < b.rest ? -1 : 1));
  return besides.map(({ entry, rest }) => {
    const group = rootOf(rest);
    const root = roots.get(group) ?? takeFree(to + group, taken);
    roots.set(group, root);
    return [entry, root + rest.slice(group.length)];
  });
}

/** This name, or the next of its series, that nothing has. */
function takeFree(root: string, taken: Set<string>): string {
  const { series = root, number: from = 1 } = parseRoot(root) ?? {};
  let name = root;
  for (let number = from; taken.has(name); number++) name = `${series}${number}`;
  taken.add(name);
  return name;
}

/** Groups entries by the longest job name that they begin with. An entry of no job is its own group. */
function ownedBy(there: readonly string[], owners: ReadonlySet<string>): Map<string, Owned[]> {
  const owned = new Map<string, Owned[]>();
  for (const entry of there) {
    const owner = ownerOf(entry, owners);
    const about = { entry, rest: entry.slice(owner.length) };
    const entries = owned.get(owner);
    if (entries) entries.push(about);
    else owned.set(owner, [about]);
  }
  return owned;
}

function ownerOf(entry: string, owners: ReadonlySet<string>): string {
  const { base, groups } = splitName(entry);
  return namesIn(base, groups).find((name) => owners.has(name)) ?? base;
}

function isMain(rest: string): boolean {
  return (ENDINGS as readonly string[]).includes(rest);
}
