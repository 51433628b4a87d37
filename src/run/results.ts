// job_results/: where results end up on this computer. What exists there is never overwritten.

import { randomBytes } from "node:crypto";
import { existsSync, renameSync } from "node:fs";
import { mkdir, open, rename, rm } from "node:fs/promises";
import path from "node:path";
import { UserError } from "../errors.js";

export const RESULTS_DIR = "job_results";

export class Results {
  readonly dir: string;
  /** Ours: records, and archives that are still arriving. */
  readonly privateDir: string;

  constructor(workingDir: string) {
    this.dir = path.join(workingDir, RESULTS_DIR);
    this.privateDir = path.join(this.dir, ".sshoal");
  }

  async prepare(): Promise<void> {
    try {
      await mkdir(this.dir, { recursive: true });
      await mkdir(this.privateDir, { recursive: true, mode: 0o700 });
    } catch (cause) {
      throw new UserError(`${this.dir} cannot be written: ${(cause as Error).message}`, {
        hint: "run from a directory you may write to",
        cause,
      });
    }
  }

  isThere(): boolean {
    return existsSync(this.privateDir);
  }

  /** The directory is put into place last, so it stands for a whole result. */
  has(name: string): boolean {
    return existsSync(path.join(this.dir, name));
  }

  streamPath(name: string, stream: "out" | "err"): string {
    return path.join(this.dir, `${name}.${stream}`);
  }

  /** A fresh directory for one archive, and its removal. */
  async makeIncoming(): Promise<{ dir: string; remove: () => Promise<void> }> {
    const dir = path.join(this.privateDir, "incoming", randomBytes(6).toString("hex"));
    await mkdir(dir, { recursive: true, mode: 0o700 });
    return { dir, remove: () => rm(dir, { recursive: true, force: true }) };
  }

  /** Moves what an archive brought for one job (`out`, `err`, `work/`) to where people look for it. */
  async place(name: string, arrived: string): Promise<void> {
    for (const stream of ["out", "err"] as const) {
      const from = path.join(arrived, stream);
      const to = this.streamPath(name, stream);
      if (existsSync(from)) await rename(from, to);
      else if (!existsSync(to)) await (await open(to, "a", 0o600)).close();
    }
    const work = path.join(arrived, "work");
    await mkdir(work, { recursive: true, mode: 0o700 });
    await rename(work, await this.#freePath(name));
    await this.#syncDirectory();
  }

  /** Makes room for another attempt: results are renamed, never removed. */
  moveAside(name: string): void {
    let n = 1;
    while (["", ".out", ".err"].some((ending) => existsSync(this.#asidePath(name, ending, n)))) n++;
    // The directory last: while it is there, the job counts as done.
    for (const ending of [".out", ".err", ""]) {
      const from = path.join(this.dir, `${name}${ending}`);
      if (existsSync(from)) renameSync(from, this.#asidePath(name, ending, n));
    }
  }

  #asidePath(name: string, ending: string, n: number): string {
    return path.join(this.dir, `${name}.old-${n}${ending}`);
  }

  /** A second result of the same job is kept beside the first. */
  async #freePath(name: string): Promise<string> {
    let to = path.join(this.dir, name);
    for (let n = 2; existsSync(to); n++) to = path.join(this.dir, `${name}.again-${n}`);
    return to;
  }

  async #syncDirectory(): Promise<void> {
    const handle = await open(this.dir, "r");
    try {
      await handle.sync();
    } finally {
      await handle.close();
    }
  }
}
