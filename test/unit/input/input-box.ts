// A project and a home with files in them, and the reports of mistakes in these.

import { chmod, mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { expect } from "vitest";
import { ExitCode, UserError } from "../../../src/errors.js";

export interface InputBox {
  readonly root: string;
  /** `project` below the root. */
  readonly cwd: string;
  /** `home` below the root. */
  readonly homeDir: string;
  /** The path is relative to the root; returns it, absolute. */
  write(path: string, content: string | Uint8Array): Promise<string>;
  remove(): Promise<void>;
}

export async function makeInputBox(): Promise<InputBox> {
  const root = await mkdtemp(join(tmpdir(), "sshoal-load-"));
  const [cwd, homeDir] = [join(root, "project"), join(root, "home")];
  await mkdir(cwd);
  await mkdir(homeDir);
  await chmod(root, 0o755);
  return {
    root,
    cwd,
    homeDir,
    async write(path, content) {
      const absolute = join(root, path);
      await mkdir(dirname(absolute), { recursive: true });
      await writeFile(absolute, content);
      return absolute;
    },
    remove: () => rm(root, { recursive: true }),
  };
}

export async function errorOf(loading: Promise<unknown>): Promise<UserError> {
  const error = await loading.then(
    () => new Error("expected an error"),
    (reason: unknown) => reason,
  );
  if (!(error instanceof UserError)) throw error;
  expect(error.exitCode).toBe(ExitCode.BadInput);
  return error;
}

const isRoot = process.getuid?.() === 0;
/** Root may read everything, so this switches to another user for a while. */
export async function asOrdinaryUser<T>(work: () => Promise<T>): Promise<T> {
  if (isRoot) process.seteuid?.(65534);
  try {
    return await work();
  } finally {
    if (isRoot) process.seteuid?.(0);
  }
}
