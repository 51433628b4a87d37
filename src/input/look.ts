// What is on this disk: every other file of this room only reads text that it is given.

import { open, readdir, stat } from "node:fs/promises";

/** What is at a path; `id` identifies a file whatever its name. */
export type Sight =
  | { readonly kind: "file"; readonly id: string; readonly bytes: bigint }
  | { readonly kind: "directory" | "absent" | "unreadable" };

export async function look(path: string): Promise<Sight> {
  try {
    const found = await stat(path, { bigint: true });
    if (found.isDirectory()) return { kind: "directory" };
    // Opening is the only test that holds: access(2) answers for the real user and knows no root squash.
    await (await open(path)).close();
    return { kind: "file", id: `${found.dev}:${found.ino}`, bytes: found.size };
  } catch (error) {
    return { kind: isAbsence(error) ? "absent" : "unreadable" };
  }
}

function isAbsence(error: unknown): boolean {
  return error instanceof Error && "code" in error && (error.code === "ENOENT" || error.code === "ENOTDIR");
}

/** Only ever for a hint: a directory that cannot be listed has nothing to offer. */
export async function listDirectory(path: string): Promise<string[]> {
  return readdir(path).catch(() => []);
}
