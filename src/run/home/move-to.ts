// Renames what has arrived to its final place. On another file system it is copied beside that place first.

import { randomBytes } from "node:crypto";
import { closeSync, cpSync, fsyncSync, lstatSync, openSync, readdirSync, renameSync, rmSync } from "node:fs";
import path from "node:path";

/** What is at `to` afterwards is whole, whenever this is killed. */
export function moveTo(from: string, to: string, rename: typeof renameSync = renameSync): void {
  try {
    rename(from, to);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EXDEV") throw error;
    copyTo(from, to);
  }
}

function copyTo(from: string, to: string): void {
  const beside = path.join(path.dirname(to), `.${path.basename(to)}.${randomBytes(6).toString("hex")}`);
  try {
    cpSync(from, beside, { recursive: true, verbatimSymlinks: true, preserveTimestamps: true });
    syncAll(beside);
    renameSync(beside, to);
  } finally {
    rmSync(beside, { recursive: true, force: true });
  }
  rmSync(from, { recursive: true, force: true });
}

function syncAll(entry: string): void {
  const facts = lstatSync(entry);
  if (facts.isDirectory()) for (const name of readdirSync(entry)) syncAll(path.join(entry, name));
  else if (!facts.isFile()) return;
  const fd = openSync(entry, "r");
  try {
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
}
