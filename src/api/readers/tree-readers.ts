// The rules for the list of a working directory that is sent.

import type { SentEntry, SentFiles } from "../../model/sent-tree.js";
import {
  amount,
  check,
  list,
  object,
  oneOf,
  optional,
  type Read,
  refuse,
  required,
  text,
  whole,
} from "./fields.js";

const MOST_ENTRIES = 300_000;
const MOST_PATH_BYTES = 4095;
const MOST_NAME_BYTES = 255;
const MOST_FILE_BYTES = 2 ** 50;
const MOST_TIME_MS = 8.64e15;

const sha256: Read<string> = check(
  (raw) => typeof raw === "string" && /^[\da-f]{64}$/.test(raw),
  "must be a SHA-256 in 64 hexadecimal digits",
);

interface AnyEntry {
  readonly type: SentEntry["type"];
  readonly path: string;
  readonly mode: number;
  readonly mtime: number;
  readonly target?: string;
  readonly sha256?: string;
  readonly size?: number;
}

const anyEntry = object<AnyEntry>({
  type: required(oneOf(["Directory", "SymbolicLink", "File"])),
  path: required(
    check(
      (raw) => isSafePath(raw),
      "must be a relative path without . and .., of names of at most 255 bytes",
    ),
  ),
  mode: required(whole(0, 0o777)),
  mtime: required(amount(-MOST_TIME_MS, MOST_TIME_MS)),
  target: optional(text(MOST_PATH_BYTES)),
  sha256: optional(sha256),
  size: optional(whole(0, MOST_FILE_BYTES)),
});

/** What each type has besides. */
const OWN = { Directory: [], SymbolicLink: ["target"], File: ["sha256", "size"] } as const;

const entry: Read<SentEntry> = (raw, place) => {
  const before = place.problems.length;
  const read = anyEntry(raw, place);
  if (place.problems.length > before) return read as SentEntry;
  const own: readonly string[] = OWN[read.type];
  for (const name of ["target", "sha256", "size"] as const)
    if ((read[name] !== undefined) !== own.includes(name))
      refuse(place, `a ${read.type} must have ${own.join(" and ") || "neither target nor sha256 nor size"}`);
  if (read.type === "Directory" && (read.mode & 0o700) !== 0o700)
    refuse(place, "a directory must be open for its owner");
  return read as SentEntry;
};

function isSafePath(raw: unknown): boolean {
  if (typeof raw !== "string" || raw.includes("\0") || Buffer.byteLength(raw) > MOST_PATH_BYTES) return false;
  // Two texts with half a character each would be one name on the disk.
  if (/\p{Cs}/u.test(raw)) return false;
  return raw.split("/").every(isName);
}

function isName(part: string): boolean {
  return part !== "" && part !== "." && part !== ".." && Buffer.byteLength(part) <= MOST_NAME_BYTES;
}

/** Sorted, so that no path is there twice and a directory comes before what is in it. */
const entries: Read<readonly SentEntry[]> = (raw, place) => {
  const before = place.problems.length;
  const all = list(entry, MOST_ENTRIES)(raw, place);
  if (place.problems.length > before) return all;
  const directories = new Set<string>();
  for (const [index, each] of all.entries()) {
    const inside = { ...place, where: `${place.where}[${index}]` };
    const previous = all[index - 1];
    if (previous !== undefined && !(previous.path < each.path))
      refuse(inside, "must come in the order of paths");
    const above = each.path.slice(0, Math.max(0, each.path.lastIndexOf("/")));
    if (above !== "" && !directories.has(above)) refuse(inside, `${above} must be a directory of the list`);
    if (each.type === "Directory") directories.add(each.path);
  }
  return all;
};

export const sentList = object<Pick<SentFiles, "entries">>({ entries: required(entries) });

export const sentFiles = object<SentFiles>({
  entries: required(entries),
  sent: required(list(sha256, MOST_ENTRIES)),
});
