// Checksums of a directory's files as they were when last read, so that what has not changed is not read again. A file is
// taken for unchanged if its inode, size and both times are: the time of its last change is one that no program can set.

import { createHash, randomBytes } from "node:crypto";
import {
  type BigIntStats,
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import path from "node:path";
import { boundCache, CACHE_LIMITS } from "../../bound-cache.js";

export interface Digest {
  readonly sha256: string;
  readonly size: number;
}

/** Its path, what identifies its state, and the checksum. */
type Row = readonly [path: string, stamp: string, sha256: string];

/** A file that is changed twice within one tick of the clock looks the same: one of this moment is read again next time. */
const SETTLED_MS = 2000;

export class DigestMemory {
  readonly #file: string;
  readonly #now: number;
  readonly #known: ReadonlyMap<string, Row>;
  readonly #seen = new Map<string, Row>();
  #isNew = false;

  /** Below `cacheDir`, for `dir`. What cannot be read is nothing. */
  constructor(cacheDir: string, dir: string, now = Date.now()) {
    this.#file = path.join(cacheDir, "digests", createHash("sha256").update(dir).digest("hex").slice(0, 40));
    this.#now = now;
    this.#known = new Map(readRows(this.#file).map((row) => [row[0], row]));
  }

  recall(relative: string, stats: BigIntStats): Digest | null {
    const row = this.#seen.get(relative) ?? this.#known.get(relative);
    if (row === undefined || row[1] !== stampOf(stats)) return null;
    this.#seen.set(relative, row);
    return { sha256: row[2], size: Number(stats.size) };
  }

  /** `stats` are from before it was read. */
  note(relative: string, stats: BigIntStats, { sha256, size }: Digest): void {
    const changedAt = Math.max(Number(stats.mtimeMs), Number(stats.ctimeMs));
    if (changedAt > this.#now - SETTLED_MS || BigInt(size) !== stats.size) return;
    this.#seen.set(relative, [relative, stampOf(stats), sha256]);
    this.#isNew = true;
  }

  /** What cannot be kept is read again one day: no reason to stop. */
  save(): void {
    const draft = `${this.#file}.${randomBytes(6).toString("hex")}`;
    const isFirst = !existsSync(this.#file);
    try {
      if (!this.#isNew && this.#seen.size === this.#known.size) return this.#noteUse(isFirst);
      mkdirSync(path.dirname(this.#file), { recursive: true, mode: 0o700 });
      writeFileSync(draft, JSON.stringify([...this.#seen.values()]), { mode: 0o600 });
      renameSync(draft, this.#file);
      if (isFirst) boundCache(path.dirname(this.#file), CACHE_LIMITS.digests, path.basename(this.#file));
    } catch {
      rmSync(draft, { force: true });
    }
  }

  /** What was used last goes last. */
  #noteUse(isMissing: boolean): void {
    if (!isMissing) utimesSync(this.#file, new Date(), new Date());
  }
}

function stampOf({ dev, ino, size, mtimeNs, ctimeNs }: BigIntStats): string {
  return `${dev} ${ino} ${size} ${mtimeNs} ${ctimeNs}`;
}

function readRows(file: string): Row[] {
  try {
    const rows = JSON.parse(readFileSync(file, "utf8")) as Row[];
    return rows.filter(([, , sha256]) => /^[0-9a-f]{64}$/.test(sha256));
  } catch {
    return [];
  }
}
