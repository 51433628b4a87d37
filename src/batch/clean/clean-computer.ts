// What sshoal keeps on this computer: in job_results/ of this directory, in the cache, as state, and as sockets. Removes
// what is of no use, and of earlier results those that the user names a limit for.

import { rmSync } from "node:fs";
import path from "node:path";
import { CACHE_LIMITS, listCache, removeEntry, surplusEntries } from "../../bound-cache.js";
import type { KeptHere, KeptSort } from "../../model/kept-here.js";
import { filesByBatch, type Owners } from "../../plan/results-here.js";
import { incomingPath, listIncoming, listLockDrafts, putAway } from "../../run/home/private-files.js";
import type { Results } from "../../run/home/results.js";
import { findStale } from "../../socket/listening.js";
import { chooseBatch, loadAnyBatches, readBatchHolder, stemsHere } from "../find/batches-here.js";
import type { Surroundings } from "../surroundings.js";
import { ageOf, cleanBatchHere, removing, weigh } from "./batch-kept-here.js";
import { stateKeptHere } from "./state-kept-here.js";

export interface ComputerToClean extends Pick<Surroundings, "cacheDir" | "stateDir" | "socketDirs"> {
  readonly results: Results;
  /** These alone, by name or script; empty: all batches of the directory, and what is of none. */
  readonly batches: readonly string[];
  /** Of each series of earlier results of a job; null: all stay. */
  readonly maxOld: number | null;
  readonly isDryRun: boolean;
  /** Milliseconds since 1970. */
  readonly now: number;
}

/** Throws UserError where a batch is named that is not here. */
export async function cleanComputer(order: ComputerToClean): Promise<KeptHere[]> {
  const { results, maxOld } = order;
  // Before records are read: what a live client receives has a record by then.
  const incoming = listIncoming(results);
  const owners = findOwners(results);
  const rows: KeptHere[] = [];
  for (const stem of chosenStems(order, owners.stems))
    rows.push(...(await cleanBatchHere({ results, stem, owners, maxOld }, order)));
  if (order.batches.length > 0) return rows;
  return [
    ...rows,
    ...(await cleanStrays(order, owners, incoming)),
    ...cleanCache(order),
    ...(await stateKeptHere(order.stateDir)),
    ...(await cleanSockets(order)),
  ];
}

function findOwners(results: Results): Owners {
  const jobs = loadAnyBatches(results).flatMap(({ stem, state }) =>
    [...state.jobs.values()].map(({ job }) => [job.name, stem] as const),
  );
  return { stems: stemsHere(results), jobs: new Map(jobs) };
}

function chosenStems({ results, batches }: ComputerToClean, stems: readonly string[]): readonly string[] {
  if (batches.length === 0) return stems;
  const here = loadAnyBatches(results);
  return [...new Set(batches.map((word) => chooseBatch(here, word).stem))];
}

/** In job_results/, of no batch that a record knows. */
async function cleanStrays(
  order: ComputerToClean,
  owners: Owners,
  incoming: readonly string[],
): Promise<KeptHere[]> {
  const { results } = order;
  const { current } = filesByBatch(results.list(), owners).get(null) ?? { current: new Map() };
  const others = [...current.keys()].map((name) => path.join(results.dir, name));
  const reason = "no record tells of them";
  const other = { what: "other files", count: others.length, reason, places: others } as const;
  const known = new Set(loadAnyBatches(results).map(({ batch }) => batch));
  const arrived = incoming.filter((name) => !known.has(name)).map((name) => incomingPath(results, name));
  const isAtWork = owners.stems.some((stem) => readBatchHolder(results, stem) !== null);
  return [
    ...(others.length === 0 ? [] : [await weigh(other, OF_NONE)]),
    ...(await cleanLeft("half arrived", arrived, order, isAtWork)),
    ...(await cleanLeft("lock", listLockDrafts(results, order.now), order, isAtWork)),
  ];
}

const OF_NONE = { place: "job_results", batch: null };

async function cleanLeft(
  what: KeptSort,
  places: readonly string[],
  { results, isDryRun, now }: ComputerToClean,
  isAtWork: boolean,
): Promise<KeptHere[]> {
  if (places.length === 0) return [];
  const ageSeconds = Math.max(...places.map((place) => ageOf(place, now) ?? 0));
  const row = await weigh({ what, count: places.length, ageSeconds, places }, OF_NONE);
  if (isAtWork) return [{ ...row, reason: "a client is at work" }];
  if (isDryRun) return [{ ...row, end: "would be removed" }];
  return [{ ...row, ...(await removing(() => putAway(results, places))) }];
}

const CACHE_SORTS: readonly (readonly [keyof typeof CACHE_LIMITS, KeptSort])[] = [
  ["code", "compiled code"],
  ["digests", "checksums"],
  ["trees", "file lists"],
  ["ssh", "ssh defaults"],
];

function cleanCache({ cacheDir, isDryRun, now }: ComputerToClean): KeptHere[] {
  if (cacheDir === null) return [];
  return CACHE_SORTS.flatMap(([sort, what]) => {
    const dir = path.join(cacheDir, sort);
    const entries = listCache(dir);
    const goes = surplusEntries(entries, CACHE_LIMITS[sort], { now });
    const stays = entries.filter((entry) => !goes.includes(entry));
    const row = (some: typeof entries, end: KeptHere["end"]): KeptHere[] => {
      if (some.length === 0) return [];
      const oldest = Math.min(...some.map(({ usedAt }) => usedAt));
      const ageSeconds = Math.max(0, Math.round((now - oldest) / 1000));
      const bytes = some.reduce((sum, each) => sum + each.bytes, 0);
      return [
        {
          place: cacheDir,
          what,
          batch: null,
          count: some.length,
          bytes,
          ageSeconds,
          end,
          reason: null,
          names: [],
        },
      ];
    };
    if (isDryRun) return [...row(stays, "kept"), ...row(goes, "would be removed")];
    const areGone = goes.map(({ name }) => removeEntry(path.join(dir, name)));
    return [
      ...row(stays, "kept"),
      ...row(
        goes.filter((_, index) => areGone[index]),
        "removed",
      ),
      ...row(
        goes.filter((_, index) => !areGone[index]),
        "could not be removed",
      ),
    ];
  });
}

/** Of clients that were killed. */
async function cleanSockets({ socketDirs, isDryRun }: ComputerToClean): Promise<KeptHere[]> {
  const rows: KeptHere[] = [];
  for (const dir of new Set(socketDirs)) {
    const stale = await findStale(dir);
    if (stale.length === 0) continue;
    const row = await weigh(
      { what: "socket", count: stale.length, places: stale },
      { place: dir, batch: null },
    );
    if (!isDryRun) for (const socket of stale) rmSync(socket, { force: true });
    rows.push({ ...row, end: isDryRun ? "would be removed" : "removed" });
  }
  return rows;
}
