// --out: the file that gets what a job prints. It is made when the job is added, so that two jobs never share one.

import { closeSync, mkdirSync, openSync, rmSync } from "node:fs";
import { copyFile } from "node:fs/promises";
import path from "node:path";
import { UserError } from "../errors.js";

/** Throws UserError if one exists; none is left then. */
export function reserveOutFiles(files: readonly string[]): { undo(): void } {
  const made: string[] = [];
  const undo = () => {
    for (const file of made) rmSync(file, { force: true });
  };
  for (const file of files) {
    try {
      mkdirSync(path.dirname(file), { recursive: true });
      closeSync(openSync(file, "wx"));
      made.push(file);
    } catch (error) {
      undo();
      throw refusal(file, error as NodeJS.ErrnoException);
    }
  }
  return { undo };
}

function refusal(file: string, { code, message }: NodeJS.ErrnoException): UserError {
  if (code !== "EEXIST")
    return new UserError(`--out ${file}: ${message}`, { hint: "--out FILE, in a directory of yours" });
  return new UserError(`--out ${file}: the file exists already`, {
    hint: `rm ${file}, or give another file`,
  });
}

/** What the job printed, whole. The same file may get it twice. */
export async function fillOutFile(printed: string, file: string): Promise<void> {
  await copyFile(printed, file);
}
