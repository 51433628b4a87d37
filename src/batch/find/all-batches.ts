// Every batch of this user on this computer, in any directory. Machines are asked about batches that no client follows, all at
// the same time and for a few seconds at most: what they do not answer is as last seen.

import { UserError } from "../../errors.js";
import { type AnyBatch, countLeftOut, countWords } from "../../model/batch-status.js";
import { type Holder, isHere } from "../../run/home/lock.js";
import { Results } from "../../run/home/results.js";
import type { Connector } from "../connector.js";
import { batchTimes, jobStatuses } from "../job-status.js";
import type { Unreached } from "../machine/reach.js";
import type { Surroundings } from "../surroundings.js";
import { type BatchHere, describeHolder, loadBatch, stemsHere } from "./batches-here.js";
import { knownDirectories } from "./known-directories.js";
import { refresh } from "./refresh.js";

const ANSWER_WITHIN_MS = 10_000;

export interface AllBatches {
  /** Those at work first, then those that wait for a client, then the others, the last one first. */
  readonly batches: readonly AnyBatch[];
  /** Those that could be read, in no order. */
  readonly loaded: readonly BatchHere[];
}

export async function findAllBatches(surroundings: Surroundings, connect: Connector): Promise<AllBatches> {
  const signal = AbortSignal.timeout(ANSWER_WITHIN_MS);
  const found = knownDirectories(surroundings).flatMap(loadAll);
  const batches = await Promise.all(
    found.map(async (each): Promise<AnyBatch> => {
      if (each.kind === "unreadable") return each;
      const unreached = await refresh(each.here, connect, { signal });
      return describe(each.here, unreached, Date.now());
    }),
  );
  return {
    batches: batches.sort((one, other) => rankOf(one) - rankOf(other) || lastAtOf(other) - lastAtOf(one)),
    loaded: found.flatMap((each) => (each.kind === "loaded" ? [each.here] : [])),
  };
}

type Loaded =
  | { readonly kind: "loaded"; readonly here: BatchHere }
  | Extract<AnyBatch, { kind: "unreadable" }>;

/** A record that cannot be read does not hide the others, whatever is wrong with it. */
function loadAll(directory: string): Loaded[] {
  const results = new Results(directory);
  return stemsHere(results).flatMap((stem): Loaded[] => {
    try {
      const here = loadBatch(results, stem);
      return here === null ? [] : [{ kind: "loaded", here }];
    } catch (error) {
      const { message } = error as Error;
      const problem = error instanceof UserError ? message : `its record is damaged: ${message}`;
      return [{ kind: "unreadable", directory, stem, problem }];
    }
  });
}

function describe(here: BatchHere, unreached: readonly Unreached[], now: number): AnyBatch {
  const { batch, stem, dir, state, holder } = here;
  const jobs = jobStatuses(here, now);
  const lastAt = state.life.stretches.at(-1)?.until ?? 0;
  return {
    kind: "known",
    batch,
    stem,
    directory: dir,
    counts: countWords(jobs),
    leftOut: countLeftOut(jobs),
    toCollect: jobs.filter(({ outcome, isHere }) => outcome !== null && !isHere).length,
    ...batchTimes(state, holder !== null, now),
    follower: holder === null ? null : describeHolder(holder),
    apiSocket: apiSocketOf(holder),
    lastAt,
    seenAt: unreached.length > 0 ? lastAt : now,
    unreached,
  };
}

function apiSocketOf(holder: Holder | null): string | null {
  return typeof holder?.api === "string" && isHere(holder) ? holder.api : null;
}

function rankOf(batch: AnyBatch): number {
  if (batch.kind === "unreadable") return 3;
  if (batch.isAtWork) return 0;
  return batch.counts.waiting - batch.leftOut + batch.counts.running > 0 ? 1 : 2;
}

function lastAtOf(batch: AnyBatch): number {
  return batch.kind === "unreadable" ? 0 : batch.lastAt;
}
