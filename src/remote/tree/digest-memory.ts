// Remembers checksums of a directory's files, so that unchanged files are not read again. A file counts as unchanged if
// its inode, size and both times are the same. No program can set the time of the last change.

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

/** Its path, its state, and its checksum. */
type Row = readonly [path: string, stamp: string, sha256: string];

/** A file that changes twice within one clock tick looks the same, so a file this new is read again next time. */
const SETTLED_MS = 2000;

export class DigestMemory {
  readonly #file: string;
  readonly #now: number;
  readonly #known: ReadonlyMap<string, Row>;
  readonly #seen = new Map<string, Row>();
  #isNew = false;

  /** Loads the memory for `dir` from `cacheDir`. A file that cannot be read counts as empty. */
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

  /** `stats` must be from before the file was read. */
  note(relative: string, stats: BigIntStats, { sha256, size }: Digest): void {
    const changedAt = Math.max(Number(stats.mtimeMs), Number(stats.ctimeMs));
    if (changedAt > this.#now - SETTLED_MS || BigInt(size) !== stats.size) return;
    this.#seen.set(relative, [relative, stampOf(stats), sha256]);
    this.#isNew = true;
  }

  /** A failure is not reported: the files are only read again next time. */
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
