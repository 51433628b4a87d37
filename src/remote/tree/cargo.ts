// Entries of a tree as an archive for any number of machines, read once for all machines that are at about the same
// position. Each piece can be made again, so a slow or late machine delays no other and misses nothing.

import { createHash, type Hash } from "node:crypto";
import { closeSync, openSync, readSync } from "node:fs";
import path from "node:path";
import { setImmediate as breathe } from "node:timers/promises";
import { promisify } from "node:util";
import { gzip } from "node:zlib";
import { shrinks } from "./compressing.js";
import { archiveEnd, encodeHeader, paddingOf } from "./pack.js";
import { bytesOf, type TreeEntry } from "./tree.js";

const PIECE_BYTES = 1 << 20;
/** How many pieces machines may be apart and still share them. */
const KEPT_PIECES = 32;

/** A file has changed since it was hashed, so the tree was not put into place on that machine. */
export class FileChanged extends Error {
  readonly path: string;

  constructor(path: string, options: { cause?: unknown } = {}) {
    super(`${path} changed while it was being copied`, options);
    this.name = "FileChanged";
    this.path = path;
  }
}

/** A part of an entry; for most entries, all of it. */
interface Slice {
  readonly entry: TreeEntry;
  readonly offset: number;
  readonly length: number;
}

export class Cargo {
  /** The size of its files. */
  readonly bytes: number;
  readonly #dir: string;
  readonly #prefix: string;
  readonly #end: Buffer;
  readonly #plan: readonly (readonly Slice[])[];
  /** By their position in the plan, the oldest first. */
  readonly #kept = new Map<number, Buffer>();
  /** Digests of the slices of large files, from the first time they were read. */
  readonly #digests = new Map<Slice, string>();
  /** Each piece is a whole gzip file; concatenated, they are one gzip file. */
  readonly #zipped = new Map<number, Promise<Buffer>>();
  readonly #entries: readonly TreeEntry[];
  #shrinks: boolean | null = null;
  #growing: Hash | null = null;
  #failure: Error | null = null;

  /** `mark`: the name of an empty file that comes last. `prefix`: goes before every path. */
  constructor(dir: string, entries: readonly TreeEntry[], mark: string, prefix = "") {
    this.bytes = bytesOf(entries);
    this.#dir = dir;
    this.#prefix = prefix;
    this.#entries = entries;
    this.#plan = planPieces(depthFirst(entries));
    const header = encodeHeader({ type: "File", path: mark, mode: 0o600, size: 0, content: EMPTY });
    this.#end = Buffer.concat([header, archiveEnd()]);
  }

  get shrinks(): boolean {
    this.#shrinks ??= shrinks(this.#dir, this.#entries);
    return this.#shrinks;
  }

  /** All entries, without an end, for an archive that has others as well. Throws FileChanged. */
  withoutEnd(): Buffer {
    return Buffer.concat(this.#plan.map((_, index) => this.#piece(index)));
  }

  /** Throws FileChanged. `bytes`: the size of the piece before compression. */
  async *stream(isZipped = false): AsyncGenerator<{ readonly data: Buffer; readonly bytes: number }> {
    for (let index = 0; index < this.#plan.length; index++) {
      const piece = this.#piece(index);
      yield { data: isZipped ? await this.#zip(index, piece) : piece, bytes: piece.length };
      await breathe();
    }
    yield { data: isZipped ? await zip(this.#end) : this.#end, bytes: 0 };
  }

  #zip(index: number, piece: Buffer): Promise<Buffer> {
    const zipped = this.#zipped.get(index) ?? zip(piece);
    this.#zipped.set(index, zipped);
    forgetOldest(this.#zipped);
    return zipped;
  }

  #piece(index: number): Buffer {
    const kept = this.#kept.get(index);
    if (kept !== undefined) return kept;
    if (this.#failure !== null) throw this.#failure;
    try {
      const made = this.#make(this.#plan[index] ?? []);
      this.#kept.set(index, made);
      forgetOldest(this.#kept);
      return made;
    } catch (error) {
      this.#failure = error as Error;
      throw error;
    }
  }

  /** Reads files directly to their place in the piece: joining them afterwards would cost another copy. */
  #make(slices: readonly Slice[]): Buffer {
    const encoded = slices.map((slice) => ({
      slice,
      header: headerOf(slice, this.#prefix),
      padding: paddingAfter(slice),
    }));
    const sizes = encoded.map(({ slice, header, padding }) => header.length + slice.length + padding.length);
    const piece = Buffer.allocUnsafe(sizes.reduce((sum, size) => sum + size, 0));
    let at = 0;
    for (const { slice, header, padding } of encoded) {
      at += header.copy(piece, at);
      this.#read(slice, piece.subarray(at, at + slice.length));
      at += slice.length;
      at += padding.copy(piece, at);
    }
    return piece;
  }

  #read(slice: Slice, content: Buffer): void {
    const { entry } = slice;
    if (entry.type !== "File") return;
    if (!this.#readSlice(entry.path, slice, content) || !this.#isUnchanged(slice, content))
      throw new FileChanged(entry.path);
  }

  #readSlice(relative: string, slice: Slice, content: Buffer): boolean {
    try {
      return readSlice(path.join(this.#dir, relative), slice, content);
    } catch (cause) {
      throw new FileChanged(relative, { cause });
    }
  }

  /** The first machine reads slices in order, so that the whole of a large file is checked once. */
  #isUnchanged(slice: Slice, content: Buffer): boolean {
    const { entry, offset, length } = slice;
    if (entry.type !== "File") return true;
    const digest = createHash("sha256").update(content).digest("hex");
    if (length === entry.size) return digest === entry.sha256;
    const before = this.#digests.get(slice);
    if (before !== undefined) return digest === before;
    this.#digests.set(slice, digest);
    if (offset === 0) this.#growing = createHash("sha256");
    this.#growing?.update(content);
    return offset + length < entry.size || this.#growing?.digest("hex") === entry.sha256;
  }
}

function zip(piece: Buffer): Promise<Buffer> {
  return promisify(gzip)(piece, { level: 1 });
}

function forgetOldest(pieces: Map<number, unknown>): void {
  for (const oldest of pieces.keys()) if (pieces.size > KEPT_PIECES) pieces.delete(oldest);
}

/** GNU tar sets the time of a directory when the archive leaves it, so a directory's entries must follow it directly. */
function depthFirst(entries: readonly TreeEntry[]): TreeEntry[] {
  const keyed = entries.map((entry) => ({ entry, key: entry.path.replaceAll("/", "\0") }));
  return keyed.sort((a, b) => (a.key < b.key ? -1 : 1)).map(({ entry }) => entry);
}

function planPieces(entries: readonly TreeEntry[]): Slice[][] {
  const pieces: Slice[][] = [];
  let piece: Slice[] = [];
  let bytes = 0;
  const add = (slice: Slice) => {
    piece.push(slice);
    bytes += slice.length + 1024;
    if (bytes < PIECE_BYTES) return;
    pieces.push(piece);
    piece = [];
    bytes = 0;
  };
  for (const entry of entries) {
    const size = entry.type === "File" ? entry.size : 0;
    for (let offset = 0; offset === 0 || offset < size; offset += PIECE_BYTES)
      add({ entry, offset, length: Math.min(PIECE_BYTES, size - offset) });
  }
  return piece.length === 0 ? pieces : [...pieces, piece];
}

const EMPTY: Buffer = Buffer.alloc(0);

function headerOf({ entry, offset }: Slice, prefix: string): Buffer {
  if (offset > 0) return EMPTY;
  const path = `${prefix}${entry.path}`;
  return encodeHeader(entry.type === "File" ? { ...entry, path, content: EMPTY } : { ...entry, path });
}

function paddingAfter({ entry, offset, length }: Slice): Buffer {
  return entry.type === "File" && offset + length === entry.size ? paddingOf(entry.size) : EMPTY;
}

/** False if the file is shorter than before. Text that was appended since is not read. */
function readSlice(file: string, { offset, length }: Slice, content: Buffer): boolean {
  if (length === 0) return true;
  const handle = openSync(file, "r");
  try {
    let read = 0;
    while (read < length) {
      const got = readSync(handle, content, read, length - read, offset + read);
      if (got === 0) return false;
      read += got;
    }
    return true;
  } finally {
    closeSync(handle);
  }
}
