// Small files of this user, below the state directory, with which commands on one computer know of each other.

import { createHash } from "node:crypto";
import { rmSync } from "node:fs";
import path from "node:path";
import type { Surroundings } from "./surroundings.js";

export type StatePlace = Pick<Surroundings, "stateDir" | "computer">;

/** The directory for files of one kind; null: nothing can be kept. Computers that share a home do not share their other disks. */
export function stateFilesDir({ stateDir, computer }: StatePlace, kind: string): string | null {
  return stateDir && path.join(stateDir, `${kind}@${computer.replaceAll("/", "_")}`);
}

/** The name of the file about that text. */
export function stateFileName(about: string): string {
  return createHash("sha256").update(about).digest("hex").slice(0, 32);
}

/** On a disk that takes no changes it stays. */
export function removeStateFile(file: string): void {
  try {
    rmSync(file, { force: true });
  } catch {
    // A home that is read-only.
  }
}
