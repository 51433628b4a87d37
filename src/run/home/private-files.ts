// What clients keep in job_results/.sshoal/ beside records, and what killed ones left there.

import { randomBytes } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, renameSync, statSync } from "node:fs";
import { rm } from "node:fs/promises";
import path from "node:path";
import { isGone } from "./lock.js";
import type { Results } from "./results.js";

/** Names of batches that archives have come for, or were coming for. */
export function listIncoming({ privateDir }: Results): string[] {
  return list(path.join(privateDir, "incoming"));
}

export function incomingPath({ privateDir }: Results, batch: string): string {
  return path.join(privateDir, "incoming", batch);
}

/** A client needs its draft for a moment. Where hosts share the directory, its process may be on another one. */
const DRAFT_MS = 60_000;

/** Files that a client that was killed while it took a lock left beside that: `<stem>.lock.<pid>`, and with `.stale`. */
export function listLockDrafts({ privateDir }: Results, now: number): string[] {
  const ofGone = list(privateDir).filter((name) => {
    const [, pid] = /\.lock\.(\d+)(?:\.stale)?$/.exec(name) ?? [];
    return pid !== undefined && isGone(Number(pid));
  });
  const paths = ofGone.map((name) => path.join(privateDir, name));
  return paths.filter((file) => now - (statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? now) > DRAFT_MS);
}

/** Of an edited script: results that are between two names. The next client puts them into place. */
export function listRenamed({ privateDir }: Results, stem: string): string[] {
  return [`${stem}.gathering`, `${stem}.placing`]
    .map((name) => path.join(privateDir, name))
    .filter((place) => existsSync(place));
}

/** Moves all of it out of sight at once. Returns how to remove it, which may take long. Throws what the disk says. */
export function putAway({ privateDir }: Results, places: readonly string[]): () => Promise<void> {
  const trash = path.join(privateDir, "incoming", `removed-${randomBytes(6).toString("hex")}`);
  mkdirSync(trash, { recursive: true, mode: 0o700 });
  for (const place of places) renameSync(place, path.join(trash, path.basename(place)));
  return () => rm(trash, { recursive: true, force: true });
}

function list(dir: string): string[] {
  try {
    return readdirSync(dir).sort();
  } catch {
    return [];
  }
}
