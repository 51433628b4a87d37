// What this computer keeps of one batch. Removes what may go, while no client can begin to follow the batch.

import { statSync } from "node:fs";
import path from "node:path";
import pLimit from "p-limit";
import { UserError } from "../../errors.js";
import type { KeptHere } from "../../model/kept-here.js";
import { diskUse } from "../../run/home/disk-use.js";
import { takeLock } from "../../run/home/lock.js";
import { putAway } from "../../run/home/private-files.js";
import { type BatchToClean, type LookHere, lockPath, lookHere } from "./look-here.js";

/** What a row is about, before it was measured. */
type Unweighed = Pick<KeptHere, "what" | "count"> &
  Partial<Pick<KeptHere, "end" | "reason" | "names" | "ageSeconds">> & { readonly places: readonly string[] };

/** How many files are looked at together. */
const AT_ONCE = 8;

/** `now`: milliseconds since 1970. */
export async function cleanBatchHere(
  order: BatchToClean,
  { isDryRun, now }: { readonly isDryRun: boolean; readonly now: number },
): Promise<KeptHere[]> {
  const look = lookHere(order);
  const rows = await Promise.all(
    describe(look, order, now).map((row) => weigh(row, { place: "job_results", batch: order.stem })),
  );
  const isToGo = ({ end }: KeptHere) => end === "would be removed";
  if (isDryRun || !rows.some(isToGo)) return rows;
  const end = await remove(look, order);
  return rows.map((row) => (isToGo(row) ? { ...row, ...end } : row));
}

function describe(look: LookHere, { results, stem }: BatchToClean, now: number): Unweighed[] {
  const { files, goes, reason, arrived, renamed, lock } = look;
  const stays = [...files.earlier.keys()].filter((name) => !goes.includes(name));
  const current = [...files.current.values()].flat();
  const earlier = (names: readonly string[]) => names.flatMap((name) => files.earlier.get(name) ?? []);
  const there = (names: readonly string[]) => names.map((name) => path.join(results.dir, name));
  const end = "would be removed";
  const rows: Unweighed[] = [
    { what: "results", count: files.current.size, places: there(current) },
    { what: "earlier results", count: stays.length, reason, places: there(earlier(stays)), names: stays },
    { what: "earlier results", count: goes.length, end, places: there(earlier(goes)), names: goes },
    {
      what: "record",
      count: 1,
      reason: "needed to resume",
      places: [path.join(results.privateDir, `${stem}.jsonl`)],
    },
    {
      what: "half renamed",
      count: renamed.length,
      reason: "type the batch's command again",
      places: renamed,
    },
  ];
  if (arrived !== null)
    rows.push({ what: "half arrived", count: 1, end, ageSeconds: ageOf(arrived, now), places: [arrived] });
  if (lock !== null) rows.push({ what: "lock", count: 1, end, places: [lock] });
  return rows.filter(({ count }) => count > 0);
}

export async function weigh(
  { places, ...row }: Unweighed,
  about: Pick<KeptHere, "place" | "batch">,
): Promise<KeptHere> {
  const limit = pLimit(AT_ONCE);
  const sizes = await Promise.all(places.map((place) => limit(() => diskUse(place))));
  const bytes = sizes.reduce((sum, each) => sum + each, 0);
  return { ...about, ageSeconds: null, end: "kept", reason: null, names: [], bytes, ...row };
}

/** Seconds since it was last written to. */
export function ageOf(place: string, now: number): number | null {
  const stats = statSync(place, { throwIfNoEntry: false });
  return stats === undefined ? null : Math.max(0, Math.round((now - stats.mtimeMs) / 1000));
}

/** Looks once more when it holds the batch: a client may have come meanwhile, or have come and gone. */
async function remove(before: LookHere, order: BatchToClean): Promise<Pick<KeptHere, "end" | "reason">> {
  const { results, stem } = order;
  return removing(() => {
    const unlock = takeLock(lockPath(results, stem));
    try {
      const { files, goes, arrived } = lookHere(order, true);
      const names = goes.filter((name) => before.goes.includes(name));
      const entries = names.flatMap((name) => files.earlier.get(name) ?? []);
      const places = entries.map((name) => path.join(results.dir, name));
      return putAway(results, arrived === null ? places : [...places, arrived]);
    } finally {
      unlock();
    }
  });
}

/** `hide` moves it away, and returns how to remove it. */
export async function removing(hide: () => () => Promise<void>): Promise<Pick<KeptHere, "end" | "reason">> {
  try {
    await hide()();
    return { end: "removed", reason: null };
  } catch (error) {
    if (error instanceof UserError) return { end: "kept", reason: "a client follows the batch by now" };
    return { end: "could not be removed", reason: (error as Error).message };
  }
}
