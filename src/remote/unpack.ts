// Writes an archive from a machine into a fresh directory of ours. The archive is not trusted: names that lead
// elsewhere reject it whole, links that lead elsewhere are left out, and links are made last, so that nothing is
// ever written through one.

import { constants, mkdirSync } from "node:fs";
import { copyFile, symlink } from "node:fs/promises";
import path from "node:path";
import type { Readable } from "node:stream";
import { Parser } from "tar/parse";
import type { ReadEntry } from "tar/read-entry";
import { deferred } from "../transport/deferred.js";
import { RemoteError } from "./remote-error.js";
import { syncAll } from "./sync-all.js";
import { writeEntry } from "./write-entry.js";

export interface Unpacked {
  /** Of each first path component: what was written two levels below it. */
  readonly written: ReadonlyMap<string, { files: number; bytes: number }>;
  /** What was not taken, in words. */
  readonly leftOut: readonly string[];
  readonly kept: ReadonlyMap<string, Buffer>;
}

export interface UnpackRules {
  /** Which first components may come. */
  readonly allows: (top: string) => boolean;
  /** Files that are not written but handed over as they are. */
  readonly keeps: (name: string) => boolean;
}

const KEPT_BYTES = 4096;

/** Whatever was written when this rejects is the caller's to remove. */
export async function unpack(archive: Readable, into: string, rules: UnpackRules): Promise<Unpacked> {
  const unpacking = new Unpacking(into, rules);
  try {
    await takeAll(archive, unpacking);
    return await unpacking.finish();
  } catch (error) {
    throw blameArchive(error);
  } finally {
    archive.destroy();
  }
}

async function takeAll(archive: Readable, unpacking: Unpacking): Promise<void> {
  const { promise: isRead, resolve, reject } = deferred<void>();
  let taken = Promise.resolve();
  let [isWhole, hasFailed] = [false, false];
  const parser = new Parser({
    strict: true,
    // One after another: an entry that is not read yet holds back the rest of the archive.
    onReadEntry: (entry) => {
      if (hasFailed) return entry.resume();
      taken = taken.then(() => unpacking.take(entry));
      taken.catch(reject);
    },
  });
  parser.on("error", reject);
  parser.on("eof", () => {
    isWhole = true;
  });
  parser.on("end", () => (isWhole ? resolve() : reject(new RemoteError("the archive it sent is cut off"))));
  archive.on("error", reject);
  archive.on("close", () => archive.readableEnded || reject(new RemoteError("the connection was lost")));
  archive.pipe(parser as unknown as NodeJS.WritableStream);
  try {
    await isRead;
    await taken;
  } catch (error) {
    hasFailed = true;
    archive.unpipe();
    // Ends the entry that is being written: nothing is written any more once this has rejected.
    parser.end();
    await taken.catch(() => {});
    throw error;
  }
}

/** Names that are files and directories at once, things that come twice, no archive at all. */
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
  readonly #files = new Set<string>();
  readonly #links = new Map<string, string>();
  readonly #madeDirectories = new Set<string>();

  constructor(into: string, rules: UnpackRules) {
    this.#into = into;
    this.#rules = rules;
  }

  async take(entry: ReadEntry): Promise<void> {
    const name = this.#safeName(entry.path);
    switch (entry.type) {
      case "Directory":
        entry.resume();
        return this.#makeDirectory(name);
      case "File":
      case "OldFile":
      case "ContiguousFile":
        return this.#takeFile(name, entry);
      case "SymbolicLink":
        entry.resume();
        this.#links.set(name, entry.linkpath ?? "");
        return;
      case "Link":
        entry.resume();
        return this.#copyLinked(name, this.#safeName(entry.linkpath ?? ""));
      default:
        entry.resume();
        this.#leftOut.push(`${name} (neither file, directory nor link)`);
    }
  }

  /** Links are made now, when nothing is written any more. */
  async finish(): Promise<Unpacked> {
    for (const name of this.#links.keys()) this.#refuseBeneathLink(name);
    for (const [name, target] of this.#links) await this.#makeLink(name, target);
    await syncAll(this.#into, [...this.#files, ...this.#madeDirectories]);
    return { written: this.#written, leftOut: this.#leftOut, kept: this.#kept };
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
    this.#makeDirectory(path.posix.dirname(name));
    await writeEntry(path.join(this.#into, name), entry);
    this.#files.add(name);
    this.#count(name, entry.size);
  }

  /** A hard link within the archive becomes a file of its own. */
  async #copyLinked(name: string, original: string): Promise<void> {
    if (!this.#files.has(original)) {
      throw new RemoteError(
        `the archive it sent is not to be trusted: it links to ${JSON.stringify(original)}`,
      );
    }
    this.#makeDirectory(path.posix.dirname(name));
    await copyFile(path.join(this.#into, original), path.join(this.#into, name), constants.COPYFILE_EXCL);
    this.#files.add(name);
    this.#count(name, 0);
  }

  /** It would be made wherever that other link leads. */
  #refuseBeneathLink(name: string): void {
    for (let above = path.posix.dirname(name); above !== "."; above = path.posix.dirname(above)) {
      if (!this.#links.has(above)) continue;
      throw new RemoteError(`the archive it sent is not to be trusted: ${JSON.stringify(above)} is a link`);
    }
  }

  async #makeLink(name: string, target: string): Promise<void> {
    const [top = "", second = ""] = name.split("/");
    const within = `${top}/${second}`;
    const lands = path.posix.normalize(path.posix.join(path.posix.dirname(name), target));
    const isInside = lands === within || lands.startsWith(`${within}/`);
    if (target === "" || target.startsWith("/") || !isInside || goesDownAndUp(target)) {
      this.#leftOut.push(`${name} (a link to ${target}, outside the results)`);
      return;
    }
    this.#makeDirectory(path.posix.dirname(name));
    await symlink(target, path.join(this.#into, name));
    this.#count(name, 0);
  }

  #makeDirectory(name: string): void {
    if (this.#madeDirectories.has(name)) return;
    mkdirSync(path.join(this.#into, name), { recursive: true, mode: 0o700 });
    this.#madeDirectories.add(name);
  }

  /** Results are what is below the second directory; beside it are our own files. */
  #count(name: string, bytes: number): void {
    const [top = "", , ...below] = name.split("/");
    if (below.length === 0) return;
    const sum = this.#written.get(top) ?? { files: 0, bytes: 0 };
    this.#written.set(top, { files: sum.files + 1, bytes: sum.bytes + bytes });
  }
}

/** Up again from what may itself be a link: that is not where the text says. */
function goesDownAndUp(target: string): boolean {
  const parts = target.split("/").filter((part) => part !== "" && part !== ".");
  const down = parts.findIndex((part) => part !== "..");
  return down >= 0 && parts.includes("..", down);
}
