// Makes a tar stream entry by entry.

import { Header } from "tar/header";
import { Pax } from "tar/pax";

export type PackEntry = { readonly path: string; readonly mode: number; readonly mtime?: Date } & (
  | { readonly type: "Directory" }
  | { readonly type: "SymbolicLink"; readonly target: string }
  | { readonly type: "File"; readonly size: number; readonly content: Buffer }
);

const BLOCK = 512;
const CHUNK_BYTES = 1 << 20;

/** Joins small pieces, because every write costs a packet. Content must have exactly `size` bytes. */
export async function* pack(entries: Iterable<PackEntry> | AsyncIterable<PackEntry>): AsyncGenerator<Buffer> {
  let pending: Buffer[] = [];
  let pendingBytes = 0;
  for await (const piece of pieces(entries)) {
    pending.push(piece);
    pendingBytes += piece.length;
    if (pendingBytes < CHUNK_BYTES) continue;
    yield Buffer.concat(pending);
    pending = [];
    pendingBytes = 0;
  }
  yield Buffer.concat([...pending, archiveEnd()]);
}

async function* pieces(entries: Iterable<PackEntry> | AsyncIterable<PackEntry>): AsyncGenerator<Buffer> {
  for await (const entry of entries) {
    yield encodeHeader(entry);
    if (entry.type !== "File") continue;
    yield entry.content;
    yield paddingOf(entry.size);
  }
}

/** The padding after a file's content, up to a whole block. */
export function paddingOf(size: number): Buffer {
  return Buffer.alloc((BLOCK - (size % BLOCK)) % BLOCK);
}

export function archiveEnd(): Buffer {
  return Buffer.alloc(2 * BLOCK);
}

export function encodeHeader(entry: PackEntry): Buffer {
  const fields = {
    path: entry.type === "Directory" ? `${entry.path}/` : entry.path,
    mode: entry.mode & 0o777,
    mtime: entry.mtime ?? new Date(0),
    size: entry.type === "File" ? entry.size : 0,
    type: entry.type,
    uid: 0,
    gid: 0,
    ...(entry.type === "SymbolicLink" && { linkpath: entry.target }),
  };
  const header = new Header(fields);
  const block = Buffer.alloc(BLOCK);
  const needsPax = header.encode(block, 0);
  // Long names and large sizes do not fit into the plain header, so a Pax record before it has them.
  return needsPax ? Buffer.concat([new Pax(fields).encode(), block]) : block;
}
