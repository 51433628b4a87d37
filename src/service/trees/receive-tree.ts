// Stores a working directory that a client on another computer sends: first its list, then the files that are not here yet. Each file
// must have the content that its hash says.

import { randomBytes } from "node:crypto";
import { createWriteStream, lstatSync, statfsSync } from "node:fs";
import { mkdir, rm } from "node:fs/promises";
import path from "node:path";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { Refusal } from "../../api/refusal.js";
import type { SentEntry, SentFiles } from "../../model/sent-tree.js";
import { hashEntries, type TreeEntry } from "../../remote/tree/tree.js";
import { objectPath, storeTree } from "./freeze-tree.js";
import { frozenTreePath, renewLease, type TreeStore } from "./tree-store.js";

/** For the record of the service and for jobs. */
const KEPT_FREE_BYTES = 256 << 20;

/** The contents to send. Empty: the tree is stored. Its lease is renewed, so that it is not removed meanwhile. */
export async function missingFiles(
  store: TreeStore,
  sent: readonly SentEntry[],
  now: number,
): Promise<readonly string[]> {
  const entries = sent.map(toEntry);
  const hash = hashEntries(entries);
  renewLease(store, hash, now);
  if (isThere(frozenTreePath(store, hash))) return [];
  const missing = new Set<string>();
  for (const entry of entries)
    if (entry.type === "File" && !isThere(objectPath(store, entry))) missing.add(entry.sha256);
  if (missing.size > 0) return [...missing];
  await build(store, { hash, entries }, new Map());
  return [];
}

/** Throws a Refusal: 400 if the list has another hash, 409 if a file has other content or is not here, 503 if the disk is too full. */
export async function receiveTree(store: TreeStore, { hash, files, content, now }: Receiving): Promise<void> {
  const entries = files.entries.map(toEntry);
  if (hashEntries(entries) !== hash) throw new Refusal(400, "the list of files does not have this hash");
  renewLease(store, hash, now);
  const sizes = new Map(entries.flatMap((each) => (each.type === "File" ? [[each.sha256, each.size]] : [])));
  if (new Set(files.sent).size < files.sent.length)
    throw new Refusal(400, "a content is announced more than once");
  const wanted = files.sent.map((sha256) => {
    const size = sizes.get(sha256);
    if (size === undefined) throw new Refusal(400, `no file of the list has the content ${sha256}`);
    return { sha256, size };
  });
  const bytes = wanted.reduce((sum, { size }) => sum + size, 0);
  // Each is written once as it arrives, and once more into the tree.
  refuseIfFull(store, 2 * bytes);
  const dir = path.join(store.drafts, randomBytes(8).toString("hex"));
  try {
    await mkdir(dir, { mode: 0o700 });
    const arrived = await writeAll(dir, wanted, content).catch(refuseForDisk);
    await build(store, { hash, entries }, arrived);
  } finally {
    await rm(dir, { recursive: true, force: true });
  }
}

interface Receiving {
  readonly hash: string;
  readonly files: SentFiles;
  /** Of `files.sent`, one after the other. */
  readonly content: AsyncIterable<Buffer>;
  readonly now: number;
}

type FileEntry = Extract<TreeEntry, { type: "File" }>;

function toEntry(sent: SentEntry): TreeEntry {
  return { ...sent, mtime: new Date(sent.mtime) };
}

function isThere(file: string): boolean {
  return lstatSync(file, { throwIfNoEntry: false }) !== undefined;
}

function refuseIfFull({ drafts }: TreeStore, bytes: number): void {
  const { bavail, bsize } = statfsSync(drafts);
  if (bavail * bsize >= bytes + KEPT_FREE_BYTES) return;
  throw new Refusal(503, `the disk of the service has no room for ${bytes} bytes`, {
    hint: "send less with --copy-forward PATHS, or free some space there",
  });
}

interface Wanted {
  readonly sha256: string;
  readonly size: number;
}

/** Returns where each content is. Their hashes are checked when they are copied into the tree. */
async function writeAll(
  dir: string,
  wanted: readonly Wanted[],
  content: AsyncIterable<Buffer>,
): Promise<Map<string, string>> {
  const pieces = content[Symbol.asyncIterator]();
  let rest: Buffer = Buffer.alloc(0);
  async function* take(size: number): AsyncGenerator<Buffer> {
    for (let left = size; left > 0; ) {
      while (rest.length === 0) {
        const { done, value } = await pieces.next();
        if (done === true) throw new Refusal(400, "the content ends early");
        rest = value;
      }
      const piece = rest.subarray(0, left);
      rest = rest.subarray(piece.length);
      left -= piece.length;
      yield piece;
    }
  }
  const arrived = new Map<string, string>();
  for (const { sha256, size } of wanted) {
    const file = path.join(dir, sha256);
    await pipeline(
      Readable.from(take(size), { objectMode: false }),
      createWriteStream(file, { flags: "wx", mode: 0o600 }),
    );
    arrived.set(sha256, file);
  }
  if (rest.length > 0 || (await pieces.next()).done !== true)
    throw new Refusal(400, "more content than the list has");
  return arrived;
}

/** What the disk of the service cannot take is no bug. */
function refuseForDisk(error: NodeJS.ErrnoException): never {
  switch (error.code) {
    case "ENOSPC":
    case "EDQUOT":
      throw new Refusal(503, "the disk of the service is full", {
        hint: "send less with --copy-forward PATHS, or free some space there",
        cause: error,
      });
    default:
      throw error;
  }
}

interface Building {
  readonly hash: string;
  readonly entries: readonly TreeEntry[];
}

async function build(store: TreeStore, tree: Building, arrived: ReadonlyMap<string, string>): Promise<void> {
  const sourceOf = (entry: FileEntry) => arrived.get(entry.sha256) ?? objectPath(store, entry);
  const changed = await storeTree(store, tree, sourceOf).catch(refuseForDisk);
  if (changed === null) return;
  throw new Refusal(409, `${changed} is not here with the content that its hash says`, {
    hint: "send the list again, then what is missing",
  });
}
