// Chooses where the entries of an archive are put in a local directory: under their own names, or under others if the
// disk refuses a name. Two names can become one by decoding, and a path can be too long or too deep.

import { createHash } from "node:crypto";
import { mkdirSync } from "node:fs";
import path from "node:path";

/** The disk accepted the entry under none of the names that were tried. */
export class NoPlace extends Error {}

type Make<T> = (place: string, file: string) => T;

/** Error codes for a name that the disk refuses. */
const REFUSED = new Set(["EEXIST", "ENAMETOOLONG", "EINVAL", "EILSEQ"]);
const MOST_NUMBER = 10_000;
/** How much of a name that is too long is kept. */
const KEPT_BYTES = 80;
/** No disk accepts a path of so many directories. */
const MOST_DEPTH = 2000;

export class ArrivalPlaces {
  readonly #into: string;
  /** By their names in the archive. */
  readonly #directories = new Map([[".", "."]]);
  readonly #renamed: (readonly [name: string, place: string])[] = [];

  constructor(into: string) {
    this.#into = into;
  }

  /** Names in the archive with their new places, except those inside a renamed directory. */
  get renamed(): readonly (readonly [name: string, place: string])[] {
    return this.#renamed;
  }

  /** The directories that were made. */
  get directories(): string[] {
    return [...this.#directories.values()].slice(1);
  }

  /**
   * Calls `make` with places below `into` until the disk accepts one. `make` must fail if the place exists. Returns the
   * accepted place; throws NoPlace if there is none.
   */
  put<T>(name: string, make: Make<T>): { readonly place: string; readonly made: T } {
    let isRenamed = false;
    for (const stem of this.#stemsFor(name)) {
      for (let n = 1; n < MOST_NUMBER; n++) {
        const place = n === 1 ? stem : `${stem}~${n}`;
        const tried = this.#try(place, make);
        if ("made" in tried) {
          if (isRenamed) this.#renamed.push([name, place]);
          return { place, made: tried.made };
        }
        isRenamed = true;
        if (tried.code !== "EEXIST") break;
      }
    }
    throw new NoPlace(name);
  }

  /** A place with only two parts is a file of sshoal, and gets no other name. */
  #try<T>(place: string, make: Make<T>): { readonly made: T } | { readonly code: string } {
    try {
      return { made: make(place, path.join(this.#into, place)) };
    } catch (error) {
      const { code = "" } = error as NodeJS.ErrnoException;
      if (!REFUSED.has(code) || place.split("/").length < 3) throw error;
      return { code };
    }
  }

  makeDirectory(name: string): string {
    const known = this.#directories.get(name);
    if (known !== undefined) return known;
    const { place } = this.put(name, (_, file) => mkdirSync(file, { mode: 0o700 }));
    this.#directories.set(name, place);
    return place;
  }

  /** Tries its own directory, then a short name in it, then that short name at the top of the results. */
  *#stemsFor(name: string): Iterable<string> {
    const directory = path.posix.dirname(name);
    if (this.#directories.has(directory) || name.split("/").length <= MOST_DEPTH) {
      const parent = this.makeDirectory(directory);
      yield path.posix.join(parent, path.posix.basename(name));
      yield path.posix.join(parent, shortName(name));
    }
    yield path.posix.join(...name.split("/").slice(0, 2), shortName(name));
  }
}

/** The beginning of the name and a digest of the whole path, the same in every run. */
function shortName(name: string): string {
  let kept = "";
  for (const char of path.posix.basename(name)) {
    if (Buffer.byteLength(kept + char) > KEPT_BYTES) break;
    kept += char;
  }
  return `${kept}~${createHash("sha256").update(name).digest("hex").slice(0, 8)}`;
}
