// Writes an archive from a machine into a new local directory. The archive is not trusted: a name that leads outside
// rejects the whole archive, and a link that leads outside is skipped. Links are made last, so that nothing is written
// through one. One name that the disk refuses does not block the others.

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
  /** By first path component: what was written two levels below it. */
  readonly written: ReadonlyMap<string, { files: number; bytes: number }>;
  /** Descriptions of the entries that were skipped. */
  readonly leftOut: readonly string[];
  /** By first path component: how many names were changed. Its note RENAMED lists them. */
  readonly renamed: ReadonlyMap<string, number>;
  /** Names of entries that could not be written. */
  readonly untaken: readonly string[];
  readonly kept: ReadonlyMap<string, Buffer>;
}

export interface UnpackRules {
  /** Which first components are allowed. */
  readonly allows: (top: string) => boolean;
  /** Files whose content is returned instead of written. */
  readonly keeps: (name: string) => boolean;
}

const KEPT_BYTES = 4096;
/** Lists the results that have another name locally than on the machine. */
export const RENAMED = "sshoal-renamed.txt";

/** If this rejects, the caller removes the files written so far. */
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

/** Not an archive, or one in which sshoal's own files have the wrong type. */
const ARCHIVE_FAULTS = /^(TAR_\w+|Z_\w+|EEXIST|ENOTDIR|EISDIR|ENAMETOOLONG|EINVAL|ELOOP)$/;

/** Errors of the local disk, such as missing space or rights, are not the archive's fault. */
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
  /** The place of each file by its name; null if there are several of that name. */
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
        // What is in a job's results makes their directory: most short jobs have nothing in it.
        if (!/^[^/]+\/work$/.test(name)) this.#places.makeDirectory(name);
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

  /**
   * Makes the links now that all files are written. Their directories come first, so that no link is made through
   * another.
   */
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

  /** A note beside the renamed entries: one line each, with its place and its own name. */
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
      throw new RemoteError(`the archive it sent cannot be trusted: it contains ${JSON.stringify(raw)}`);
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

  /** A hard link within the archive becomes a separate file. */
  async #copyLinked(name: string, original: string): Promise<void> {
    const from = this.#placeOf.get(original);
    // Its original could not be read or written, or several have that name.
    if (from === undefined || from === null) throw new NoPlace(name);
    const { file, fd } = this.#create(name);
    closeSync(fd);
    await copyFile(path.join(this.#into, from), file);
    this.#count(name, 0);
  }

  #makeLink({ name, target }: { readonly name: string; readonly target: string }): void {
    try {
      this.#places.put(name, (place, file) => {
        // Checked at its final place: in a renamed directory the link may lead elsewhere.
        if (!leadsInside(place, target)) throw new LeadsOutside();
        symlinkSync(target, file);
      });
      this.#count(name, 0);
    } catch (error) {
      if (!(error instanceof LeadsOutside)) return this.#leaveThere(name, error);
      this.#leftOut.push(`${name} (a link to ${target}, outside the results)`);
    }
  }

  /** Results are below the second directory; beside that are sshoal's own files. */
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
