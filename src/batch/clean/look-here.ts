// What there is of a batch on this computer, and what of it may go.

import { existsSync } from "node:fs";
import path from "node:path";
import { type BatchFiles, earlierToRemove, filesByBatch, type Owners } from "../../plan/results-here.js";
import type { Holder } from "../../run/home/lock.js";
import { incomingPath, listRenamed } from "../../run/home/private-files.js";
import type { Results } from "../../run/home/results.js";
import { type BatchHere, describeHolder, loadBatch, readBatchHolder } from "../find/batches-here.js";

export interface BatchToClean {
  readonly results: Results;
  readonly stem: string;
  /** Of all batches. */
  readonly owners: Owners;
  /** Of each series of earlier results; null: all stay. */
  readonly maxOld: number | null;
}

export interface LookHere {
  readonly files: BatchFiles;
  /** Names of earlier results that go. */
  readonly goes: readonly string[];
  /** Why others stay; null: they are as many as may stay. */
  readonly reason: string | null;
  /** Where archives were coming when a client was killed; null: nowhere. */
  readonly arrived: string | null;
  /** Results that are between two names. */
  readonly renamed: readonly string[];
  /** The file of a client that is gone; null: there is none. */
  readonly lock: string | null;
}

const NO_FILES: BatchFiles = { current: new Map(), earlier: new Map() };

/** `isOurs`: this process holds the batch. */
export function lookHere({ results, stem, owners, maxOld }: BatchToClean, isOurs = false): LookHere {
  const holder = isOurs ? null : readBatchHolder(results, stem);
  const batch = loadBatch(results, stem);
  const files = filesByBatch(results.list(), owners).get(stem) ?? NO_FILES;
  const renamed = listRenamed(results, stem);
  const why = whyAllStay(holder, batch, renamed);
  const mayGo = why === null && maxOld !== null;
  const incoming = incomingPath(results, batch?.batch ?? stem);
  return {
    files,
    goes: mayGo ? earlierToRemove(files, maxOld, isNeeded(batch)) : [],
    reason: why ?? (maxOld === null ? "--max-old 0 removes them" : null),
    arrived: holder === null && existsSync(incoming) ? incoming : null,
    renamed,
    lock: holder === null && existsSync(lockPath(results, stem)) ? lockPath(results, stem) : null,
  };
}

export function lockPath({ privateDir }: Results, stem: string): string {
  return path.join(privateDir, `${stem}.lock`);
}

function whyAllStay(
  holder: Holder | null,
  batch: BatchHere | null,
  renamed: readonly string[],
): string | null {
  if (holder !== null) return `followed by ${describeHolder(holder)}`;
  if (batch === null) return "its record tells of no run";
  if (renamed.length > 0) return "results are being renamed";
  const { waiting, running, ended, unknown } = batch.state.tally;
  return waiting + running + ended + unknown > 0 ? "the batch is not over" : null;
}

/** The name of a job, as that of one whose command is gone, or what its next attempt begins with. */
function isNeeded(batch: BatchHere | null): (name: string) => boolean {
  const needed = new Set(
    [...(batch?.state.jobs.values() ?? [])].flatMap(({ job, traits }) => [job.name, traits.copy]),
  );
  return (name) => needed.has(name);
}
