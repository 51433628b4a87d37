// Looks at files on the local disk: all other files of this room only parse text that they are given.

import { statSync } from "node:fs";
import { open, readdir } from "node:fs/promises";

/** What is at a path; `id` identifies a file under any name. */
export type Sight =
  | { readonly kind: "file"; readonly id: string; readonly bytes: bigint }
  | { readonly kind: "directory" | "absent" | "unreadable" };

export async function look(path: string): Promise<Sight> {
  try {
    // A name is looked for at a dozen places, mostly in vain: handing each to another thread takes longer.
    const found = statSync(path, { bigint: true, throwIfNoEntry: false });
    if (found === undefined) return { kind: "absent" };
    if (found.isDirectory()) return { kind: "directory" };
    // Opening is the only reliable test: access(2) answers for the real user and ignores root squash.
    await (await open(path)).close();
    return { kind: "file", id: `${found.dev}:${found.ino}`, bytes: found.size };
  } catch (error) {
    return { kind: isAbsence(error) ? "absent" : "unreadable" };
  }
}

function isAbsence(error: unknown): boolean {
  return error instanceof Error && "code" in error && (error.code === "ENOENT" || error.code === "ENOTDIR");
}

/** Only for hints: a directory that cannot be listed counts as empty. */
export async function listDirectory(path: string): Promise<string[]> {
  return readdir(path).catch(() => []);
}
