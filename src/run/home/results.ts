// job_results/, the directory for results on this computer. Never overwrites anything in it.

import { randomBytes } from "node:crypto";
import {
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  readdirSync,
  renameSync,
  rmdirSync,
  rmSync,
} from "node:fs";
import { mkdir, open, rm } from "node:fs/promises";
import path from "node:path";
import { UserError } from "../../errors.js";
import { type Series, seriesIn, takeNumber } from "../../plan/generations.js";
import { makeDirs } from "./make-dirs.js";
import { mergeResults } from "./merge-results.js";
import { moveTo } from "./move-to.js";
import { syncDirectory } from "./sync-directory.js";

const RESULTS_DIR = "job_results";

export class Results {
  readonly dir: string;
  /** The directory for sshoal's own files: records, and archives that are still arriving. */
  readonly privateDir: string;
  /** Numbers of earlier results, read once: only the client that holds a batch gives new ones to its jobs. */
  #series: Series | null = null;

  constructor(workingDir: string) {
    this.dir = path.join(workingDir, RESULTS_DIR);
    this.privateDir = path.join(this.dir, ".sshoal");
  }

  async prepare(): Promise<void> {
    try {
      // A directory that the user made keeps its mode.
      await mkdir(this.dir, { recursive: true, mode: 0o700 });
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

  /** The place of an entry. Most are in this directory; a name with a `/` is below it, or is the path of another one. */
  pathOf(name: string): string {
    return path.resolve(this.dir, name);
  }

  /** The directory is put into place last, so its existence means that the result is complete. */
  has(name: string): boolean {
    return existsSync(this.pathOf(name));
  }

  streamPath(name: string, stream: "out" | "err"): string {
    return this.pathOf(`${name}.${stream}`);
  }

  /** Makes the directory for results of this name. */
  makePlace(name: string): void {
    if (!isElsewhere(name)) return;
    const made = makeDirs(path.dirname(this.pathOf(name)), 0o700);
    if (made !== undefined) syncDirectory(path.dirname(made));
  }

  /** Creates a directory for one archive, with a function that removes it. */
  async makeIncoming(batch: string): Promise<{ dir: string; remove: () => Promise<void> }> {
    const dir = path.join(this.privateDir, "incoming", batch, randomBytes(6).toString("hex"));
    await mkdir(dir, { recursive: true, mode: 0o700 });
    return { dir, remove: () => rm(dir, { recursive: true, force: true }) };
  }

  /** Removes a record, and the directories if they are empty then. `unlock` removes the last of sshoal's files. */
  removeUnused(recordPath: string, unlock: () => void): void {
    rmSync(recordPath, { force: true });
    unlock();
    for (const dir of [path.join(this.privateDir, "incoming"), this.privateDir, this.dir]) removeIfEmpty(dir);
  }

  /**
   * Removes archives of this batch that a killed client was receiving. Other batches of this directory may be receiving
   * now.
   */
  removeIncoming(batch: string): void {
    rmSync(path.join(this.privateDir, "incoming", batch), { recursive: true, force: true });
  }

  /**
   * Moves one job's files from an archive (`out`, `err`, `work/`) to their final place; call sync() afterwards.
   * `isBeside`: it is not the result that counts, and gets another name. `mergesOutput`: a job that printed to one
   * stream has one file. Returns its name.
   */
  place(job: string, arrived: string, isBeside: boolean, mergesOutput = false): string {
    const name = isBeside ? this.#nameNext(`${job}.again-`, 2) : job;
    this.makePlace(name);
    // Most short jobs have nothing to bring: asked once, not for each.
    const brings = existsSync(arrived) ? (part: string) => existsSync(path.join(arrived, part)) : () => false;
    for (const stream of ["out", "err"] as const) {
      const to = this.streamPath(name, stream);
      if (brings(stream)) moveTo(path.join(arrived, stream), to);
      else if (stream === "out" || !mergesOutput) closeSync(openSync(to, "a", 0o600));
    }
    if (brings("work")) moveTo(path.join(arrived, "work"), this.pathOf(name));
    else mkdirSync(this.pathOf(name), { mode: 0o700 });
    return name;
  }

  /** Adds files that arrived later to results in place. If those are gone, the files get another name. */
  placeRest(job: string, arrived: string, isInPlace: boolean): void {
    const work = path.join(arrived, "work");
    if (!existsSync(work)) return;
    if (isInPlace && this.has(job)) mergeResults(work, this.pathOf(job));
    else this.place(job, arrived, true);
  }

  /**
   * Renames results, never removes them, to make room for another attempt. Returns their new name; null if there were
   * none.
   */
  moveAside(name: string): string | null {
    const hasResults = this.has(name);
    const parts = [".out", ".err", ""].filter((ending) => existsSync(this.pathOf(name + ending)));
    if (parts.length === 0) return null;
    const aside = this.#nameNext(`${name}.old-`, 1);
    // The directory last: while it is there, the job counts as done.
    for (const ending of parts) renameSync(this.pathOf(name + ending), this.pathOf(aside + ending));
    return hasResults ? aside : null;
  }

  /** The same for one file of output. */
  moveStreamAside(name: string, stream: "out" | "err"): void {
    const from = this.streamPath(name, stream);
    renameSync(from, this.pathOf(this.#nameNext(`${name}.${stream}.old-`, 1)));
  }

  /** Names of what people see there; none where there is no such directory. */
  list(): string[] {
    if (!existsSync(this.dir)) return [];
    return readdirSync(this.dir).filter((name) => name !== path.basename(this.privateDir));
  }

  /** Earlier results by their numbers. */
  get series(): Series {
    this.#series ??= seriesIn(readdirSync(this.dir));
    return this.#series;
  }

  /** The same, of the directory where results of this name are. */
  seriesNear(name: string): Series {
    if (!isElsewhere(name)) return this.series;
    const parent = path.dirname(this.pathOf(name));
    const entries = existsSync(parent) ? readdirSync(parent) : [];
    return seriesIn(entries.map((entry) => name.slice(0, name.lastIndexOf("/") + 1) + entry));
  }

  /** Others than this have renamed earlier results. */
  forgetNumbers(): void {
    this.#series = null;
  }

  /** The newest has the highest number, also if older ones were removed. */
  #nameNext(series: string, first: number): string {
    const known = this.seriesNear(series);
    for (;;) {
      const name = `${series}${takeNumber(known, series, first)}`;
      if (!this.#isTaken(name)) return name;
    }
  }

  #isTaken(name: string): boolean {
    return ["", ".out", ".err"].some((ending) => existsSync(this.pathOf(`${name}${ending}`)));
  }

  /** Makes the placed results of these names survive a crash of this computer. */
  async sync(names: Iterable<string>): Promise<void> {
    const dirs = new Set([...names].map((name) => path.dirname(this.pathOf(name))));
    for (const dir of dirs) {
      const handle = await open(dir, "r");
      try {
        await handle.sync();
      } finally {
        await handle.close();
      }
    }
  }
}

function isElsewhere(name: string): boolean {
  return name.includes("/");
}

function removeIfEmpty(dir: string): void {
  try {
    rmdirSync(dir);
  } catch {
    // It is not empty, or does not exist.
  }
}
