// A temporary directory with files in it, as a user's working directory.

import { mkdir, mkdtemp, readFile, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";

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
  const workspace: Workspace = {
    dir,
    path: (...parts) => join(dir, ...parts),
    read: (path) => readFile(join(dir, path), "utf8"),
    async write(path, text) {
      const file = join(dir, path);
      await mkdir(dirname(file), { recursive: true });
      await writeFile(file, text, { mode: text.toString().startsWith("#!") ? 0o755 : 0o644 });
      return file;
    },
    remove: () => rm(dir, { recursive: true, force: true, maxRetries: 5 }),
  };
  for (const [path, text] of Object.entries(files)) await workspace.write(path, text);
  return workspace;
}
