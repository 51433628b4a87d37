// Scans the working directory when the batch begins: what is sent, what is left out, and a hash of the content.

import { createHash } from "node:crypto";
import {
  type BigIntStats,
  closeSync,
  lstatSync,
  openSync,
  readdirSync,
  readlinkSync,
  readSync,
} from "node:fs";
import path from "node:path";
import { setImmediate as breathe } from "node:timers/promises";
import { type Problem, problemsError } from "../../errors.js";
import type { Digest, DigestMemory } from "./digest-memory.js";
import { IGNORE_FILE, IgnoreRules } from "./ignore-rules.js";

/** The facts that make up the hash of a tree. */
export type ListedEntry = { readonly path: string; readonly mode: number } & (
  | { readonly type: "Directory" }
  | { readonly type: "SymbolicLink"; readonly target: string }
  | { readonly type: "File"; readonly sha256: string }
);

export type TreeEntry = ListedEntry & { readonly mtime: Date } & (
    | { readonly type: "Directory" | "SymbolicLink" }
    | { readonly type: "File"; readonly size: number }
  );

export interface Tree {
  /** Equal content has an equal hash; times do not count. Empty: there is nothing to copy. */
  readonly hash: string;
  readonly dir: string;
  readonly entries: readonly TreeEntry[];
  readonly bytes: number;
  readonly leftOut: readonly string[];
  /** Warnings for the user. */
  readonly warnings?: readonly string[];
  /** Files that were read again after the batch began. */
  readonly rereads?: ReadonlySet<string>;
  /** Earlier trees of the same directory, latest first, as far as they are remembered. */
  readonly earlier?: readonly EarlierTree[];
}

export interface EarlierTree {
  readonly hash: string;
  /** Null: its list is gone or damaged. */
  load(): Promise<readonly ListedEntry[] | null>;
}

/** True for a file, by its full path, that is never sent. */
export type IsFollowed = (full: string, stats: BigIntStats) => boolean;

export interface ScanOptions {
  readonly digests?: DigestMemory | null;
  readonly isFollowed?: IsFollowed;
  /** Patterns to exclude, in addition to ignore files. */
  readonly exclude?: readonly string[] | undefined;
  /** Nothing is excluded; ignore files do not count. */
  readonly isWhole?: boolean;
}

/** `paths` are relative to `dir` and inside it. Unreadable files are mistakes, reported all at once. */
export async function scanTree(
  dir: string,
  paths: readonly string[],
  { digests = null, isFollowed = () => false, exclude = [], isWhole = false }: ScanOptions = {},
): Promise<Tree> {
  const scan: Scan = {
    dir,
    named: new Set(paths.map((each) => path.normalize(each).replace(/\/+$/, ""))),
    rules: isWhole ? null : new IgnoreRules(dir, exclude),
    isFollowed,
    digests,
    found: new Map(),
    leftOut: new Set(),
    warnings: [],
    problems: [],
    buffer: Buffer.allocUnsafe(READ_BYTES),
    breathedAt: performance.now(),
  };
  for (const relative of paths) await visitFromTop(scan, path.normalize(relative));
  if (scan.problems.length > 0) throw problemsError(scan.problems);
  const entries = [...scan.found.values()].sort((a, b) => (a.path < b.path ? -1 : 1));
  return {
    hash: hashEntries(entries),
    dir,
    entries,
    bytes: bytesOf(entries),
    leftOut: [...scan.leftOut].sort(),
    warnings: scan.warnings,
  };
}

export function bytesOf(entries: readonly TreeEntry[]): number {
  return entries.reduce((sum, entry) => sum + (entry.type === "File" ? entry.size : 0), 0);
}

/** Synchronous calls cost a fifth of asynchronous ones for small files. In between, other work gets a turn. */
interface Scan {
  readonly dir: string;
  /** Paths that were named explicitly, and must exist. */
  readonly named: ReadonlySet<string>;
  readonly rules: IgnoreRules | null;
  readonly isFollowed: IsFollowed;
  readonly digests: DigestMemory | null;
  readonly found: Map<string, TreeEntry>;
  readonly leftOut: Set<string>;
  readonly warnings: string[];
  readonly problems: Problem[];
  readonly buffer: Buffer;
  breathedAt: number;
}

const READ_BYTES = 1 << 20;
const BREATHE_EVERY_MS = 10;

/** Null: it is not time yet. Awaiting an empty promise would cost more than checking a known file. */
function giveWay(scan: Scan): Promise<void> | null {
  if (performance.now() - scan.breathedAt < BREATHE_EVERY_MS) return null;
  return breathe().then(() => {
    scan.breathedAt = performance.now();
  });
}

/** A path such as `src/data/` includes its parents as directories. */
async function visitFromTop(scan: Scan, relative: string): Promise<void> {
  const parts = relative.split(path.sep).filter((part) => part !== "" && part !== ".");
  for (let depth = 1; depth < parts.length; depth++) {
    const above = parts.slice(0, depth).join("/");
    await visit(scan, above, false);
    if (scan.found.get(above)?.type !== "SymbolicLink") continue;
    const message = `cannot be copied: ${above} is a link, and on machines no file is written through a link`;
    scan.problems.push({ where: relative, message, hint: "name the target of the link instead" });
    return;
  }
  await visit(scan, parts.join("/"), true);
}

/** Null: nothing more has to be done. */
function visit(scan: Scan, relative: string, isDeep: boolean): Promise<void> | null {
  const fail = (error: unknown) => noteFailure(scan, relative, error as NodeJS.ErrnoException);
  try {
    return look(scan, relative, isDeep)?.catch(fail) ?? null;
  } catch (error) {
    fail(error);
    return null;
  }
}

function look(scan: Scan, relative: string, isDeep: boolean): Promise<void> | null {
  const full = relative === "" ? scan.dir : `${scan.dir}/${relative}`;
  const stats = lstatSync(full, { bigint: true });
  const isDirectory = stats.isDirectory();
  if (relative !== "" && scan.rules?.ignores(relative, isDirectory)) {
    scan.leftOut.add(relative);
    return null;
  }
  if (!isDirectory && scan.isFollowed(full, stats)) {
    scan.leftOut.add(`${relative} (it is the source of jobs)`);
    return null;
  }
  const shared = { path: relative, mode: Number(stats.mode) & 0o777, mtime: stats.mtime };
  if (isDirectory) {
    // Directories are always writable for their owner in the copy: otherwise busybox's tar could not fill them, nor
    // could a job's input be removed.
    const mode = shared.mode | 0o700;
    if (relative !== "") scan.found.set(relative, { ...shared, mode, type: "Directory" });
    return isDeep ? visitChildren(scan, relative, full) : null;
  }
  if (stats.isSymbolicLink())
    scan.found.set(relative, { ...shared, type: "SymbolicLink", target: readlinkSync(full) });
  else if (stats.isFile()) {
    const known = scan.digests?.recall(relative, stats);
    const keep = (digest: Digest) => void scan.found.set(relative, { ...shared, type: "File", ...digest });
    if (!known) return read(scan, relative, full, stats).then(keep);
    keep(known);
  } else scan.leftOut.add(`${relative} (a socket, pipe or device)`);
  return null;
}

async function visitChildren(scan: Scan, relative: string, full: string): Promise<void> {
  for (const name of readdirSync(full)) {
    const more = visit(scan, relative === "" ? name : `${relative}/${name}`, true) ?? giveWay(scan);
    if (more !== null) await more;
  }
}

/** A file that is removed while the directory is read is not missed: editors and compilers do this. */
function noteFailure(scan: Scan, relative: string, { code, message }: NodeJS.ErrnoException): void {
  const isGone = code === "ENOENT" || code === "ENOTDIR";
  // Node reads a name that is not UTF-8 with this letter in it, and then does not find the file.
  const isMisread = isGone && relative.includes("\ufffd");
  if (isGone && !isMisread && relative !== "" && !scan.named.has(relative)) {
    scan.warnings.push(`${relative} is left out: it was removed while the working directory was read`);
    return;
  }
  const reason = isMisread ? "its name is not UTF-8" : (code ?? message);
  scan.problems.push({
    where: relative === "" ? "." : relative,
    message: `cannot be read for copying: ${reason}`,
    hint: `make it readable, or exclude it with a line in ${IGNORE_FILE}`,
  });
}

async function read(scan: Scan, relative: string, full: string, stats: BigIntStats): Promise<Digest> {
  const digest = await hashFile(scan, full, Number(stats.size));
  scan.digests?.note(relative, stats, digest);
  return digest;
}

/** Reads at most `most` bytes, because a file that grows while it is read has no end. Returns what was read. */
async function hashFile(scan: Scan, full: string, most: number): Promise<Digest> {
  const hash = createHash("sha256");
  const file = openSync(full, "r");
  let size = 0;
  try {
    while (size < most) {
      const length = readSync(file, scan.buffer, 0, Math.min(scan.buffer.length, most - size), null);
      if (length === 0) break;
      hash.update(scan.buffer.subarray(0, length));
      size += length;
      const pause = giveWay(scan);
      if (pause !== null) await pause;
    }
    return { sha256: hash.digest("hex"), size };
  } finally {
    closeSync(file);
  }
}

export function hashEntries(entries: readonly ListedEntry[]): string {
  if (entries.length === 0) return "";
  const rows = entries.map((entry) => JSON.stringify([entry.type, entry.path, entry.mode, contentOf(entry)]));
  return createHash("sha256").update(rows.join("")).digest("hex").slice(0, 40);
}

/** Two entries of one type with equal content differ only in their modes. */
export function contentOf(entry: ListedEntry): string {
  if (entry.type === "File") return entry.sha256;
  return entry.type === "SymbolicLink" ? entry.target : "";
}

export function noTree(dir: string): Tree {
  return { hash: "", dir, entries: [], bytes: 0, leftOut: [] };
}
