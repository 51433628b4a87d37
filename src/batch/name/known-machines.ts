// The machines that --machines would find by a name: groups, machine files, and the hosts of the ssh configuration. Only this disk is asked.

import { closeSync, constants, openSync, readdirSync, readFileSync, readSync } from "node:fs";
import path from "node:path";
import { expandHome, looksLikeMachineFile, MACHINE_PLACES } from "../../input/machine/machine-places.js";
import { parseAliases, parseIncludes } from "../../input/machine/ssh-aliases.js";
import { expandPattern } from "../forward/expand-pattern.js";
import type { Surroundings } from "../surroundings.js";

type Place = Pick<Surroundings, "cwd" | "homeDir">;

export interface KnownWord {
  readonly word: string;
  /** What it is, in a few words. */
  readonly about: string;
}

/** Those that begin with `start`. */
export function knownMachines(place: Place, start: string): KnownWord[] {
  const all = [
    ...machineFiles(place, start).map((word) => ({ word, about: "machine file" })),
    ...aliases(path.join(place.homeDir, ".ssh/config"), place).map((word) => ({ word, about: "ssh alias" })),
  ];
  return all.filter(({ word }) => word.startsWith(start));
}

function machineFiles({ cwd, homeDir }: Place, start: string): string[] {
  return MACHINE_PLACES.map((dir) => path.resolve(cwd, expandHome(dir, homeDir))).flatMap((dir) =>
    listOrNothing(dir)
      .filter((name) => looksLikeMachineFile(name) && !name.startsWith(".") && name.startsWith(start))
      .filter((name) => hasAddress(path.join(dir, name))),
  );
}

/** Beside machine files there may be any YAML; this is cheaper than to read it all. */
function hasAddress(file: string): boolean {
  return /^["']?(ip|host|transport)["']?\s*:/m.test(headOf(file));
}

const HEAD_BYTES = 65536;

function headOf(file: string): string {
  const bytes = Buffer.alloc(HEAD_BYTES);
  try {
    // A pipe of that name would be waited for.
    const fd = openSync(file, constants.O_RDONLY | constants.O_NONBLOCK);
    try {
      return bytes.toString("utf8", 0, readSync(fd, bytes));
    } finally {
      closeSync(fd);
    }
  } catch {
    return "";
  }
}

/** Files that include each other end somewhere. */
const MAX_DEPTH = 4;

/** Of a configuration, and of those that it includes. */
function aliases(file: string, place: Place, depth = 0): string[] {
  const text = readOrNothing(file);
  const included =
    depth === MAX_DEPTH ? [] : parseIncludes(text).flatMap((each) => includedFiles(each, place));
  return [...parseAliases(text), ...included.flatMap((each) => aliases(each, place, depth + 1))];
}

function includedFiles(pattern: string, { homeDir }: Place): string[] {
  const whole = path.resolve(homeDir, ".ssh", expandHome(pattern, homeDir));
  return expandPattern(whole.slice(1), "/").map((file) => path.join("/", file));
}

function readOrNothing(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return "";
  }
}

function listOrNothing(dir: string): string[] {
  try {
    return readdirSync(dir).sort();
  } catch {
    return [];
  }
}
