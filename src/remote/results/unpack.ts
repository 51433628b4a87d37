// Writes an archive from a machine into a fresh directory of ours. The archive is not trusted: names that lead
// elsewhere reject it whole, links that lead elsewhere are left out, and links are made last, so that nothing is
// ever written through one. One name that this disk does not take never holds up the others.

import { closeSync, symlinkSync, writeFileSync } from "node:fs";
import { copyFile } from "node:fs/promises";
import path from "node:path";
import type { Readable } from "node:stream";
import type { ReadEntry } from "tar/read-entry";
import { RemoteError } from "../engine/remote-error.js";
import { ArrivalPlaces, NoPlace } from "./arrival-places.js";
import { leadsInside } from "./leads-inside.js";
import { readArchive } from "./read-archive.js";
import { syncAll } from "./sync-all.js";
import { createFile, type NewFile, writeEntry } from "./write-entry.js";

export interface Unpacked {
  /** Of each first path component: what was written two levels below it. */
  readonly written: ReadonlyMap<string, { files: number; bytes: number }>;
  /** What no archive can bring, in words. */
  readonly leftOut: readonly string[];
  /** Of each first path component: how many names were changed. Its note RENAMED lists them. */
  readonly renamed: ReadonlyMap<string, number>;
  /** Names of what could not be taken. */
  readonly untaken: readonly string[];
  readonly kept: ReadonlyMap<string, Buffer>;
}

export interface UnpackRules {
  /** Which first components may come. */
  readonly allows: (top: string) => boolean;
  /** Files that are not written but handed over as they are. */
  readonly keeps: (name: string) => boolean;
}

const KEPT_BYTES = 4096;
/** Which of a job's results have another name here than on the machine. */
export const RENAMED = "sshoal-renamed.txt";

/** Whatever was written when this rejects is the caller's to remove. */
export async function unpack(archive: Readable, into: string, rules: UnpackRules): Promise<Unpacked> {
  const unpacking = new Unpacking(into, rules);
  try {
    await readArchive(archive, (entry) => unpacking.take(entry));
    return await unpacking.finish();
  } catch (error) {
    throw blameArchive(error);
  } finally {
    archive.destroy();
  }
}

/** No archive at all, or one in which our own files are something else. */
const ARCHIVE_FAULTS = /^(TAR_\w+|Z_\w+|EEXIST|ENOTDIR|EISDIR|ENAMETOOLONG|EINVAL|ELOOP)$/;

/** What this computer's disk refuses, for want of room or of rights, is no fault of the archive. */
function blameArchive(error: unknown): unknown {
  const { code = "", tarCode = code, message } = error as NodeJS.ErrnoException & { tarCode?: string };
  if (error instanceof RemoteError || !ARCHIVE_FAULTS.test(tarCode)) return error;
  return new RemoteError(`the archive it sent is broken: ${message}`, null, { cause: error });
}

class Unpacking {
  readonly #into: string;
  readonly #rules: UnpackRules;
  readonly #kept = new Map<string, Buffer>();
  readonly #written = new Map<string, { files: number; bytes: number }>();
  readonly #leftOut: string[] = [];
  readonly #untaken: string[] = [];
  readonly #places: ArrivalPlaces;
  readonly #files: string[] = [];
  /** Where the file of a name is; null: there are several of that name. */
  readonly #placeOf = new Map<string, string | null>();
  readonly #links: { readonly name: string; readonly target: string }[] = [];

  constructor(into: string, rules: UnpackRules) {
    this.#into = into;
    this.#places = new ArrivalPlaces(into);
    this.#rules = rules;
  }

  async take(entry: ReadEntry): Promise<void> {
    const name = this.#safeName(entry.path);
    try {
      await this.#takeAs(name, entry);
    } catch (error) {
      this.#leaveThere(name, error);
      entry.resume();
    }
  }

  #leaveThere(name: string, error: unknown): void {
    if (!(error instanceof NoPlace)) throw error;
    this.#untaken.push(name);
  }

  async #takeAs(name: string, entry: ReadEntry): Promise<void> {
    switch (entry.type) {
      case "Directory":
        entry.resume();
        this.#places.makeDirectory(name);
        return;
      case "File":
      case "OldFile":
      case "ContiguousFile":
        return this.#takeFile(name, entry);
      case "SymbolicLink":
        entry.resume();
        this.#links.push({ name, target: entry.linkpath ?? "" });
        return;
      case "Link":
        entry.resume();
        return this.#copyLinked(name, this.#safeName(entry.linkpath ?? ""));
      default:
        entry.resume();
        this.#leftOut.push(`${name} (neither file, directory nor link)`);
    }
  }

  /** Links are made now, when nothing is written any more. Their directories first: no link is made through another. */
  async finish(): Promise<Unpacked> {
    const placed = this.#links.filter(({ name }) => this.#makeDirectoryOf(name));
    for (const link of placed) this.#makeLink(link);
    const renamed = this.#noteRenamed();
    await syncAll(this.#into, [...this.#files, ...this.#places.directories]);
    return {
      written: this.#written,
      leftOut: this.#leftOut,
      renamed,
      untaken: this.#untaken,
      kept: this.#kept,
    };
  }

  #makeDirectoryOf(name: string): boolean {
    try {
      this.#places.makeDirectory(path.posix.dirname(name));
      return true;
    } catch (error) {
      this.#leaveThere(name, error);
      return false;
    }
  }

  /** Beside what was renamed: one line each, its place and its own name. */
  #noteRenamed(): Map<string, number> {
    const below = (name: string) => name.split("/").slice(2).join("/");
    const lines = new Map<string, string[]>();
    for (const [name, place] of this.#places.renamed) {
      const some = lines.get(topOf(name)) ?? [];
      some.push(`${below(place)}\t${JSON.stringify(below(name))}\n`);
      lines.set(topOf(name), some);
    }
    for (const [top, some] of lines) {
      const note = (_: string, file: string) =>
        writeFileSync(file, some.join(""), { flag: "wx", mode: 0o600 });
      this.#files.push(this.#places.put(`${top}/work/${RENAMED}`, note).place);
    }
    return new Map([...lines].map(([top, { length }]) => [top, length]));
  }

  #safeName(raw: string): string {
    const parts = raw
      .replace(/\/+$/, "")
      .split("/")
      .filter((part) => part !== ".");
    const isBad =
      raw.includes("\0") || parts.length === 0 || parts.some((part) => part === "" || part === "..");
    if (isBad || !this.#rules.allows(parts[0] ?? "")) {
      throw new RemoteError(`the archive it sent is not to be trusted: it holds ${JSON.stringify(raw)}`);
    }
    return parts.join("/");
  }

  async #takeFile(name: string, entry: ReadEntry): Promise<void> {
    if (this.#rules.keeps(name) && entry.size <= KEPT_BYTES) {
      this.#kept.set(name, await entry.concat());
      return;
    }
    await writeEntry(entry, () => this.#create(name));
    this.#count(name, entry.size);
  }

  #create(name: string): NewFile {
    const { place, made } = this.#places.put(name, (_, file) => createFile(file));
    this.#files.push(place);
    this.#placeOf.set(name, this.#placeOf.has(name) ? null : place);
    return made;
  }

  /** A hard link within the archive becomes a file of its own. */
  async #copyLinked(name: string, original: string): Promise<void> {
    const from = this.#placeOf.get(original);
    // It could not be read or taken, or it is not known which of several it is.
    if (from === undefined || from === null) throw new NoPlace(name);
    const { file, fd } = this.#create(name);
    closeSync(fd);
    await copyFile(path.join(this.#into, from), file);
    this.#count(name, 0);
  }

  #makeLink({ name, target }: { readonly name: string; readonly target: string }): void {
    try {
      this.#places.put(name, (place, file) => {
        // Judged by where it is made: in a directory that was renamed it may lead elsewhere.
        if (!leadsInside(place, target)) throw new LeadsOutside();
        symlinkSync(target, file);
      });
      this.#count(name, 0);
    } catch (error) {
      if (!(error instanceof LeadsOutside)) return this.#leaveThere(name, error);
      this.#leftOut.push(`${name} (a link to ${target}, outside the results)`);
    }
  }

  /** Results are what is below the second directory; beside it are our own files. */
  #count(name: string, bytes: number): void {
    const [top = "", , ...below] = name.split("/");
    if (below.length === 0) return;
    const sum = this.#written.get(top) ?? { files: 0, bytes: 0 };
    this.#written.set(top, { files: sum.files + 1, bytes: sum.bytes + bytes });
  }
}

function topOf(name: string): string {
  return name.split("/")[0] ?? "";
}

class LeadsOutside extends Error {}
