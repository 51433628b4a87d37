// Stores a working directory as it is now, so that a job can run in a copy of it later. Equal content is stored once.

import { createHash, randomBytes } from "node:crypto";
import { constants } from "node:fs";
import { access, type FileHandle, link, lutimes, mkdir, open, rename, rm, symlink } from "node:fs/promises";
import path from "node:path";
import { UserError } from "../../errors.js";
import { scanTree, type Tree, type TreeEntry } from "../../remote/tree/tree.js";
import { frozenTreePath, removedTreePath, renewLease, type TreeStore } from "./tree-store.js";

export interface Freezing {
  readonly store: TreeStore;
  readonly dir: string;
  /** Relative to `dir`; absent: all of it. */
  readonly paths?: readonly string[];
  /** Patterns, in addition to ignore files. */
  readonly exclude?: readonly string[];
  readonly now: number;
}

/** How often a directory is read again whose files change meanwhile. */
const TRIES = 3;
/** Files that are written at a time: the disk makes many durable in the time of one. */
const AT_ONCE = 16;
/** The kernel's limit, without the NUL at its end. */
const MOST_PATH_BYTES = 4095;
const CHUNK_BYTES = 1 << 20;

/** Durable when it resolves. A scan of the frozen directory has the same hash as one of the original. */
export async function freezeTree({ store, dir, paths = ["."], exclude, now }: Freezing): Promise<Tree> {
  for (let attempt = 1; ; attempt++) {
    const tree = await scanTree(dir, paths, { exclude });
    // First the lease: a tree that exists now is not pruned any more.
    renewLease(store, tree.hash, now);
    if (await exists(frozenTreePath(store, tree.hash))) return tree;
    const changed = await storeTree(store, tree, (entry) => path.join(dir, entry.path));
    if (changed === null) return tree;
    if (attempt === TRIES)
      throw new UserError(`${path.join(dir, changed)} changes while the working directory is frozen`, {
        hint: "wait until it is complete, or exclude it with a line in .sshoalignore",
      });
  }
}

type Listed = Pick<Tree, "hash" | "entries">;
type SourceOf = (entry: FileEntry) => string;

/** Returns a file that is no longer what was scanned; null: the tree is stored. */
export async function storeTree(store: TreeStore, tree: Listed, sourceOf: SourceOf): Promise<string | null> {
  refuseLongPaths(store, tree);
  const draft = path.join(store.drafts, randomBytes(8).toString("hex"));
  try {
    const changed = await fill(store, draft, tree.entries, sourceOf);
    if (changed === null) await publish(store, draft, tree.hash);
    return changed;
  } finally {
    await rm(draft, { recursive: true, force: true });
  }
}

/** A tree that cannot be removed later would stop the removal of all others. Throws UserError. */
function refuseLongPaths(store: TreeStore, { hash, entries }: Listed): void {
  const most = MOST_PATH_BYTES - Buffer.byteLength(`${removedTreePath(store, hash)}/`);
  const long = entries.find((entry) => Buffer.byteLength(entry.path) > most);
  if (long === undefined) return;
  throw new UserError(`${long.path.slice(0, 100)}…: the path has more than ${most} bytes`, {
    hint: "give its directories shorter names, or exclude it with a line in .sshoalignore",
  });
}

async function fill(
  store: TreeStore,
  draft: string,
  entries: Tree["entries"],
  sourceOf: SourceOf,
): Promise<string | null> {
  await mkdir(draft, { mode: 0o700 });
  // Entries are sorted, so a directory comes before its content.
  const directories = entries.filter(({ type }) => type === "Directory");
  for (const { path: relative } of directories) await mkdir(path.join(draft, relative), { mode: 0o700 });
  const files = entries.filter((entry) => entry.type === "File");
  let changed: string | null = null;
  await eachOf(files, async (entry) => {
    if (changed !== null) return;
    if (!(await linkFile(store, sourceOf(entry), path.join(draft, entry.path), entry))) changed = entry.path;
  });
  for (const entry of entries) {
    if (entry.type !== "SymbolicLink") continue;
    const place = path.join(draft, entry.path);
    await symlink(entry.target, place);
    await lutimes(place, entry.mtime, entry.mtime);
  }
  await eachOf([...directories].reverse(), (entry) => seal(path.join(draft, entry.path), entry));
  await sync(draft);
  return changed;
}

type FileEntry = Extract<TreeEntry, { type: "File" }>;

/** Links share their mode. */
export function objectPath({ objects }: TreeStore, { sha256, mode }: FileEntry): string {
  return path.join(objects, `${sha256}.${mode.toString(8)}`);
}

/** False: the file is no longer what was scanned. */
async function linkFile(store: TreeStore, from: string, to: string, entry: FileEntry): Promise<boolean> {
  const object = objectPath(store, entry);
  if (await tryLink(object, to)) return true;
  if (!(await copyFile(from, to, entry))) return false;
  await tryLink(to, object);
  return true;
}

/** False: there is no such file, the name is taken, or the file system counts no more links of it. */
async function tryLink(file: string, name: string): Promise<boolean> {
  try {
    await link(file, name);
    return true;
  } catch (error) {
    if (["ENOENT", "EEXIST", "EMLINK"].includes((error as NodeJS.ErrnoException).code ?? "")) return false;
    throw error;
  }
}

/** False: it is gone, or has other content. */
async function copyFile(
  from: string,
  to: string,
  { sha256, size, mode, mtime }: FileEntry,
): Promise<boolean> {
  const source = await open(from, constants.O_RDONLY).catch(nullIfGone);
  if (source === null) return false;
  try {
    const target = await open(to, "wx", 0o600);
    try {
      if ((await copyBytes(source, target, size)) !== sha256) return false;
      await target.chmod(mode);
      await target.utimes(mtime, mtime);
      await target.sync();
      return true;
    } finally {
      await target.close();
    }
  } finally {
    await source.close();
  }
}

function nullIfGone(error: NodeJS.ErrnoException): null {
  if (error.code === "ENOENT") return null;
  throw error;
}

/** Returns the hash. A file that grows while it is copied has no end, so a byte more than expected is enough. */
async function copyBytes(source: FileHandle, target: FileHandle, most: number): Promise<string> {
  const hash = createHash("sha256");
  const buffer = Buffer.allocUnsafe(Math.min(CHUNK_BYTES, most + 1));
  for (let size = 0; size <= most; ) {
    const { bytesRead } = await source.read(buffer, 0, buffer.length, null);
    if (bytesRead === 0) break;
    hash.update(buffer.subarray(0, bytesRead));
    await target.writeFile(buffer.subarray(0, bytesRead));
    size += bytesRead;
  }
  return hash.digest("hex");
}

/** The deepest first: a directory's time changes with its content. */
async function seal(dir: string, { mode, mtime }: TreeEntry): Promise<void> {
  const handle = await open(dir, constants.O_RDONLY);
  try {
    await handle.chmod(mode);
    await handle.utimes(mtime, mtime);
    await handle.sync();
  } finally {
    await handle.close();
  }
}

async function publish(store: TreeStore, draft: string, hash: string): Promise<void> {
  // Objects are in their directory before a tree is in its own, and so is the lease.
  await Promise.all([sync(store.objects), sync(store.leases)]);
  try {
    await rename(draft, frozenTreePath(store, hash));
  } catch (error) {
    // Another process has frozen the same tree.
    if (!["ENOTEMPTY", "EEXIST"].includes((error as NodeJS.ErrnoException).code ?? "")) throw error;
  }
  await sync(store.trees);
}

async function sync(dir: string): Promise<void> {
  const handle = await open(dir, constants.O_RDONLY);
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

async function exists(file: string): Promise<boolean> {
  return access(file).then(
    () => true,
    () => false,
  );
}

async function eachOf<T>(items: readonly T[], use: (item: T) => Promise<void>): Promise<void> {
  const rest = items.values();
  const loops = Array.from({ length: Math.min(AT_ONCE, items.length) }, async () => {
    for (const item of rest) await use(item);
  });
  await Promise.all(loops);
}
