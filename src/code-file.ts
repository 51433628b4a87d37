// Caches compiled code on the local disk. V8 trusts it without checks, so an incomplete file, or one that another
// account could change, is never used.

import { createHash } from "node:crypto";
import {
  closeSync,
  constants,
  fstatSync,
  futimesSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  unlinkSync,
  writeFileSync,
} from "node:fs";
import { basename, join } from "node:path";
import { boundCache, CACHE_LIMITS } from "./bound-cache.js";
import { isOwnOrMissing } from "./cache-dir.js";

export interface KeptCode {
  readonly code: Buffer;
  /** A measure of how much of the program it covers. */
  readonly extent: number;
}

const HASH_BYTES = 32;
/** Includes the extent; V8 needs the rest at a multiple of eight. */
const HEAD_BYTES = HASH_BYTES + 8;
/** How exact the time of the last use is. */
const DAY_MS = 24 * 3600 * 1000;

/** For one build, as this version of Node compiles it. */
export class CodeFile {
  readonly #dir: string;
  readonly #file: string;

  constructor(dir: string, build: string) {
    this.#dir = dir;
    this.#file = join(dir, `${build}-${process.version}-${process.arch}`);
  }

  /** Null: there is none that can be trusted. */
  load(): KeptCode | null {
    const bytes = isOwnOrMissing(this.#dir) ? readOwn(this.#file) : null;
    if (bytes === null || bytes.length <= HEAD_BYTES) return null;
    const body = bytes.subarray(HASH_BYTES);
    if (!hash(body).equals(bytes.subarray(0, HASH_BYTES))) return null;
    return { code: bytes.subarray(HEAD_BYTES), extent: bytes.readUInt32LE(HASH_BYTES) };
  }

  /** Nothing is stored if the directory is not writable, or if others can write to it. */
  save({ code, extent }: KeptCode): void {
    if (!isOwnOrMissing(this.#dir)) return;
    const unfinished = `${this.#file}.${process.pid}`;
    const body = Buffer.alloc(HEAD_BYTES - HASH_BYTES + code.length);
    body.writeUInt32LE(extent);
    code.copy(body, HEAD_BYTES - HASH_BYTES);
    try {
      mkdirSync(this.#dir, { recursive: true, mode: 0o700 });
      writeFileSync(unfinished, Buffer.concat([hash(body), body]), { mode: 0o600 });
      renameSync(unfinished, this.#file);
    } catch {
      remove(unfinished);
      return;
    }
    // Another build may be installed as well; what is of no use to any goes in the end.
    boundCache(this.#dir, CACHE_LIMITS.code, basename(this.#file));
  }
}

function remove(file: string): void {
  try {
    unlinkSync(file);
  } catch {
    // It does not exist, or it stays.
  }
}

/** Refuses links of another account, and pipes that never answer. */
const REAL_FILE = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;

/** Null: it does not exist, or other accounts can write to it. */
function readOwn(file: string): Buffer | null {
  try {
    const opened = openSync(file, REAL_FILE);
    try {
      const { uid, mode, mtimeMs } = fstatSync(opened);
      if (uid !== process.geteuid?.() || (mode & 0o022) !== 0) return null;
      if (Date.now() - mtimeMs > DAY_MS) noteUse(opened);
      return readFileSync(opened);
    } finally {
      closeSync(opened);
    }
  } catch {
    return null;
  }
}

/** What was used last goes last. */
function noteUse(opened: number): void {
  try {
    futimesSync(opened, new Date(), new Date());
  } catch {
    // It only seems older than it is.
  }
}

function hash(bytes: Buffer): Buffer {
  return createHash("sha256").update(bytes).digest();
}
