// A temporary directory with files in it, used as a user's working directory.

import { execFileSync } from "node:child_process";
import { mkdir, mkdtemp, readFile, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { giveToRemote } from "./account.js";

export interface Workspace {
  readonly dir: string;
  path(...parts: string[]): string;
  read(path: string): Promise<string>;
  write(path: string, text: string | Buffer): Promise<string>;
  remove(): Promise<void>;
}

/** `files`: relative path to text; a text that begins with `#!` becomes an executable. */
export async function makeWorkspace(files: Readonly<Record<string, string>> = {}): Promise<Workspace> {
  const dir = await realpath(await mkdtemp(join(tmpdir(), "sshoal-test-")));
  giveToRemote(dir);
  const workspace: Workspace = {
    dir,
    path: (...parts) => join(dir, ...parts),
    read: (path) => readFile(join(dir, path), "utf8"),
    async write(path, text) {
      const file = join(dir, path);
      await mkdir(dirname(file), { recursive: true });
      // Records and results are the client's, which reads no records of another account. On this machine that is the account itself.
      const isLocal = process.env.SSHOAL_TEST_TRANSPORT === "local";
      for (let above = dirname(file); above.startsWith(dir); above = dirname(above))
        if (isLocal || !above.includes("/job_results")) giveToRemote(above);
      await writeFile(file, text, { mode: text.toString().startsWith("#!") ? 0o755 : 0o644 });
      return file;
    },
    remove: () => removeAll(dir),
  };
  for (const [path, text] of Object.entries(files)) await workspace.write(path, text);
  return workspace;
}

/** Also removes directories that a plain user has closed with chmod. */
async function removeAll(dir: string): Promise<void> {
  const remove = () => rm(dir, { recursive: true, force: true, maxRetries: 5 });
  await remove().catch((error: NodeJS.ErrnoException) => {
    if (error.code !== "EACCES") throw error;
    execFileSync("chmod", ["-R", "u+rwX", dir]);
    return remove();
  });
}
