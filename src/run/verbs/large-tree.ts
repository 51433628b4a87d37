// Warns about large data in the working directory before it is sent: what is large, and how to exclude it.

import { UserError } from "../../errors.js";
import type { Tree } from "../../remote/tree/tree.js";

const LARGE_BYTES = 1e9;
const NAMED = 5;
const WORTH_NAMING_BYTES = 1e6;
/** A directory in which one entry has more than this share is not named; the entry is. */
const MOST = 0.8;

type Entries = Pick<Tree, "entries">;

/** Null: no warning is needed. */
export function warnOfSize({ entries }: Entries, travelling: number): string | null {
  if (travelling <= LARGE_BYTES) return null;
  const { named, rule } = describeLargest(entries);
  return `${formatGb(travelling)} will be sent to each machine that lacks them; the largest: ${named}; to exclude something: ${rule}`;
}

/** Null: no question is needed. */
export function askAboutSize({ entries }: Entries, travelling: number): string | null {
  if (travelling <= LARGE_BYTES) return null;
  const { named } = describeLargest(entries);
  return `${formatGb(travelling)} will be sent to each machine that lacks them; the largest: ${named}. Send them? [y/N] `;
}

/** `maxBytes` is null if a person answered no. */
export function refuseSize(
  { entries }: Entries,
  travelling: number,
  { machine, maxBytes }: { machine: string; maxBytes: number | null },
): UserError {
  const { named, rule } = describeLargest(entries);
  const why = maxBytes === null ? "and you answered no" : `more than --max-send ${formatGb(maxBytes)}`;
  return new UserError(`${formatGb(travelling)} would be sent to ${machine}, ${why}; the largest: ${named}`, {
    hint: `${rule}, or --exclude`,
  });
}

function describeLargest(entries: Tree["entries"]): { named: string; rule: string } {
  const largest = largestPaths(entries);
  const named = largest.map(({ path, bytes }) => `${path} (${formatGb(bytes)})`).join(", ");
  const rule = `echo '/${(largest[0]?.path ?? "").replaceAll("'", "'\\''")}' >>.sshoalignore`;
  return { named, rule };
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
