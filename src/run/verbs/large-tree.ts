// A working directory with data in it, found out before it travels: what is large, and how to leave it here.

import type { Tree } from "../../remote/tree/tree.js";

const LARGE_BYTES = 1e9;
const NAMED = 5;
const WORTH_NAMING_BYTES = 1e6;
/** A directory that holds little else than one thing is not named, but that thing. */
const MOST = 0.8;

/** Null: it is not worth a word. */
export function warnOfSize({ entries }: Pick<Tree, "entries">, travelling: number): string | null {
  if (travelling <= LARGE_BYTES) return null;
  const largest = largestPaths(entries);
  const named = largest.map(({ path, bytes }) => `${path} (${formatGb(bytes)})`).join(", ");
  const rule = `echo '/${(largest[0]?.path ?? "").replaceAll("'", "'\\''")}' >>.sshoalignore`;
  return `${formatGb(travelling)} travel to each machine that lacks them; the largest: ${named}; to leave something here: ${rule}`;
}

interface Sized {
  readonly path: string;
  readonly bytes: number;
}

function largestPaths(entries: Tree["entries"]): Sized[] {
  const sizes = new Map<string, number>();
  for (const entry of entries) {
    if (entry.type !== "File") continue;
    for (const path of withParents(entry.path)) sizes.set(path, (sizes.get(path) ?? 0) + entry.size);
  }
  const below = new Map<string, Sized[]>();
  for (const [path, bytes] of sizes) {
    const parent = path.slice(0, Math.max(0, path.lastIndexOf("/")));
    below.set(parent, [...(below.get(parent) ?? []), { path, bytes }]);
  }
  const narrow = (one: Sized): Sized => {
    const main = below.get(one.path)?.find(({ bytes }) => bytes >= MOST * one.bytes);
    return main === undefined ? one : narrow(main);
  };
  const [first, ...others] = (below.get("") ?? []).map(narrow).sort((a, b) => b.bytes - a.bytes);
  const large = others.filter(({ bytes }) => bytes >= WORTH_NAMING_BYTES);
  return first === undefined ? [] : [first, ...large].slice(0, NAMED);
}

function withParents(path: string): string[] {
  const parts = path.split("/");
  return parts.map((_, index) => parts.slice(0, index + 1).join("/"));
}

function formatGb(bytes: number): string {
  return bytes < 1e8 ? `${Math.ceil(bytes / 1e6)} MB` : `${(bytes / 1e9).toFixed(1)} GB`;
}
