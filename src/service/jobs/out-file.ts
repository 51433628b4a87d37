// --out: the file that gets what a job prints. It is made when the job is added, so that two jobs never share one.

import { closeSync, constants, createReadStream, openSync, rmSync } from "node:fs";
import { type FileHandle, open } from "node:fs/promises";
import path from "node:path";
import { UserError } from "../../errors.js";
import { makeDirs } from "../../run/home/make-dirs.js";

/** Throws UserError if one exists; none is left then. */
export function reserveOutFiles(files: readonly string[]): { undo(): void } {
  const made: string[] = [];
  const undo = () => {
    for (const file of made) rmSync(file, { force: true });
  };
  for (const file of files) {
    try {
      makeDirs(path.dirname(file));
      closeSync(openSync(file, "wx", 0o600));
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

const { O_WRONLY, O_CREAT, O_NOFOLLOW, O_NONBLOCK } = constants;

/**
 * What the job printed, whole. The same file may get it twice. A job, or another account, may have put something else there:
 * a link is not followed, and a pipe is not waited for.
 */
export async function fillOutFile(printed: string, file: string): Promise<void> {
  const handle = await openAgain(file);
  try {
    if (!(await handle.stat()).isFile()) throw new Error(NO_FILE);
    await handle.truncate();
    for await (const part of createReadStream(printed)) await handle.appendFile(part);
  } finally {
    await handle.close();
  }
}

const NO_FILE = "it is no file any more";
const REASONS: Readonly<Record<string, string>> = {
  ELOOP: "it is a link now",
  ENXIO: NO_FILE,
  EISDIR: NO_FILE,
};

async function openAgain(file: string): Promise<FileHandle> {
  try {
    return await open(file, O_WRONLY | O_CREAT | O_NOFOLLOW | O_NONBLOCK, 0o600);
  } catch (cause) {
    throw new Error(REASONS[(cause as NodeJS.ErrnoException).code ?? ""] ?? (cause as Error).message, {
      cause,
    });
  }
}
