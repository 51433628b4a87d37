// The working directory as it is when the batch begins: what travels, what is left out, and a name made of its content.

import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { lstat, readdir, readFile, readlink } from "node:fs/promises";
import path from "node:path";
import ignore, { type Ignore } from "ignore";
import pLimit from "p-limit";
import { type Problem, problemsError } from "../errors.js";
import type { PackEntry } from "./pack.js";

const IGNORE_FILE = ".sshoalignore";
const NEVER_TRAVELS = ["/job_results", ".git"];

type TreeEntry = { readonly path: string; readonly mode: number; readonly mtime: Date } & (
  | { readonly type: "Directory" }
  | { readonly type: "SymbolicLink"; readonly target: string }
  | { readonly type: "File"; readonly size: number; readonly sha256: string }
);

export interface Tree {
  /** Equal content, equal hash; times do not count. Empty string: there is nothing to copy. */
  readonly hash: string;
  readonly dir: string;
  readonly entries: readonly TreeEntry[];
  readonly bytes: number;
  readonly leftOut: readonly string[];
}

/** `paths` are relative to `dir` and lie inside it. Unreadable files are mistakes, reported all at once. */
export async function scanTree(dir: string, paths: readonly string[]): Promise<Tree> {
  const scan: Scan = {
    dir,
    rules: ignore({ ignorecase: false })
      .add(NEVER_TRAVELS)
      .add(await loadIgnoreFile(dir)),
    found: new Map(),
    leftOut: new Set(),
    problems: [],
    limit: pLimit(8),
  };
  for (const relative of paths) await visitFromTop(scan, path.normalize(relative));
  if (scan.problems.length > 0) throw problemsError(scan.problems);
  const entries = [...scan.found.values()].sort((a, b) => (a.path < b.path ? -1 : 1));
  const bytes = entries.reduce((sum, entry) => sum + (entry.type === "File" ? entry.size : 0), 0);
  return { hash: hashEntries(entries), dir, entries, bytes, leftOut: [...scan.leftOut].sort() };
}

interface Scan {
  readonly dir: string;
  readonly rules: Ignore;
  readonly found: Map<string, TreeEntry>;
  readonly leftOut: Set<string>;
  readonly problems: Problem[];
  readonly limit: ReturnType<typeof pLimit>;
}

async function loadIgnoreFile(dir: string): Promise<string> {
  return readFile(path.join(dir, IGNORE_FILE), "utf8").catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return "";
    throw error;
  });
}

/** A path such as `src/data/` brings its parents along as directories. */
async function visitFromTop(scan: Scan, relative: string): Promise<void> {
  const parts = relative.split(path.sep).filter((part) => part !== "" && part !== ".");
  for (let depth = 1; depth < parts.length; depth++) {
    const above = parts.slice(0, depth).join("/");
    await visit(scan, above, false);
    if (scan.found.get(above)?.type !== "SymbolicLink") continue;
    const message = `cannot be copied: ${above} is a link, and over there nothing is written through one`;
    scan.problems.push({ where: relative, message, hint: "name what the link leads to" });
    return;
  }
  await visit(scan, parts.join("/"), true);
}

async function visit(scan: Scan, relative: string, isDeep: boolean): Promise<void> {
  const full = path.join(scan.dir, relative);
  try {
    const stats = await lstat(full);
    if (relative !== "" && scan.rules.ignores(stats.isDirectory() ? `${relative}/` : relative)) {
      scan.leftOut.add(relative);
      return;
    }
    const shared = { path: relative, mode: stats.mode & 0o777, mtime: stats.mtime };
    if (stats.isDirectory()) {
      if (relative !== "") scan.found.set(relative, { ...shared, type: "Directory" });
      if (isDeep) await visitChildren(scan, relative, full);
    } else if (stats.isSymbolicLink()) {
      scan.found.set(relative, { ...shared, type: "SymbolicLink", target: await readlink(full) });
    } else if (stats.isFile()) {
      const { sha256, size } = await scan.limit(() => hashFile(full, stats.size));
      scan.found.set(relative, { ...shared, type: "File", size, sha256 });
    } else {
      scan.leftOut.add(`${relative} (a socket, pipe or device)`);
    }
  } catch (error) {
    scan.problems.push(unreadable(relative, error as NodeJS.ErrnoException));
  }
}

async function visitChildren(scan: Scan, relative: string, full: string): Promise<void> {
  const names = await readdir(full);
  await Promise.all(names.map((name) => visit(scan, relative === "" ? name : `${relative}/${name}`, true)));
}

function unreadable(relative: string, error: NodeJS.ErrnoException): Problem {
  const reason =
    error.code === "ENOENT" ? "it vanished, or its name is not UTF-8" : (error.code ?? error.message);
  return {
    where: relative === "" ? "." : relative,
    message: `cannot be read for copying: ${reason}`,
    hint: `make it readable, or leave it out by a line in ${IGNORE_FILE}`,
  };
}

/** Answers with what was read: the file may be growing. */
async function hashFile(full: string, sizeNow: number): Promise<{ sha256: string; size: number }> {
  const hash = createHash("sha256");
  let size = 0;
  for await (const chunk of readChunks(full, sizeNow)) {
    hash.update(chunk);
    size += chunk.length;
  }
  return { sha256: hash.digest("hex"), size };
}

/** The buffer is taken anew for each file: a large one costs more than reading a small file. */
function readChunks(full: string, size: number): AsyncIterable<Buffer> {
  return createReadStream(full, { highWaterMark: Math.min(size + 1, 1 << 20) });
}

function hashEntries(entries: readonly TreeEntry[]): string {
  if (entries.length === 0) return "";
  const hash = createHash("sha256");
  for (const entry of entries) {
    const content = entry.type === "File" ? entry.sha256 : entry.type === "SymbolicLink" ? entry.target : "";
    hash.update(JSON.stringify([entry.type, entry.path, entry.mode, content]));
  }
  return hash.digest("hex").slice(0, 40);
}

export function noTree(dir: string): Tree {
  return { hash: "", dir, entries: [], bytes: 0, leftOut: [] };
}

/** The entries as they are sent; a file that is no longer what was hashed stops the sending. */
export function* packTree(tree: Tree): Generator<PackEntry> {
  for (const entry of tree.entries) {
    yield entry.type === "File" ? { ...entry, content: () => readUnchanged(tree.dir, entry) } : entry;
  }
}

async function* readUnchanged(dir: string, entry: TreeEntry & { type: "File" }): AsyncGenerator<Buffer> {
  const hash = createHash("sha256");
  let left = entry.size;
  // Emptiness has nothing to read, and may since have become unreadable.
  if (left === 0) return;
  for await (const chunk of readChunks(path.join(dir, entry.path), left)) {
    hash.update(chunk);
    left -= chunk.length;
    if (left < 0) break;
    yield chunk;
  }
  if (left !== 0 || hash.digest("hex") !== entry.sha256) {
    throw new Error(`${entry.path} changed while it was being copied`);
  }
}
