// Moves results that arrived later into a job's results. Never overwrites.

import {
  closeSync,
  lstatSync,
  openSync,
  readdirSync,
  readlinkSync,
  readSync,
  renameSync,
  type Stats,
} from "node:fs";
import path from "node:path";
import { syncDirectory } from "./sync-directory.js";

const BLOCK_BYTES = 1 << 20;

/** A file that `to` already has with the same content stays in `from`. Everything is safe on disk on return. */
export function mergeResults(from: string, to: string): void {
  for (const { name } of readdirSync(from, { withFileTypes: true })) {
    const [source, target] = [path.join(from, name), path.join(to, name)];
    const [coming, there] = [lstatSync(source), statIfThere(target)];
    if (there === null) renameSync(source, target);
    else if (coming.isDirectory() && there.isDirectory()) mergeResults(source, target);
    else if (!isSame(source, coming, target, there)) renameSync(source, freeName(target));
  }
  syncDirectory(to);
}

function statIfThere(file: string): Stats | null {
  return lstatSync(file, { throwIfNoEntry: false }) ?? null;
}

function freeName(target: string): string {
  let n = 2;
  while (statIfThere(`${target}.again-${n}`) !== null) n++;
  return `${target}.again-${n}`;
}

function isSame(one: string, oneStat: Stats, other: string, otherStat: Stats): boolean {
  if (oneStat.isSymbolicLink() && otherStat.isSymbolicLink())
    return readlinkSync(one) === readlinkSync(other);
  return (
    oneStat.isFile() && otherStat.isFile() && oneStat.size === otherStat.size && isSameContent(one, other)
  );
}

function isSameContent(one: string, other: string): boolean {
  const files = [openSync(one, "r"), openSync(other, "r")] as const;
  const blocks = [Buffer.alloc(BLOCK_BYTES), Buffer.alloc(BLOCK_BYTES)] as const;
  try {
    for (;;) {
      const [length, otherLength] = [readSync(files[0], blocks[0]), readSync(files[1], blocks[1])];
      if (length !== otherLength || !blocks[0].subarray(0, length).equals(blocks[1].subarray(0, length)))
        return false;
      if (length === 0) return true;
    }
  } finally {
    for (const fd of files) closeSync(fd);
  }
}
