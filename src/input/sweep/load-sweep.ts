// Loads a sweep file from disk.

import { readFile } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { problemsError, UserError } from "../../errors.js";
import type { Sweep } from "../../model/sweep.js";
import { listDirectory, look } from "../look.js";
import { suggest } from "../suggest.js";
import { parseSweep } from "./sweep-file.js";

/** Far more than a sweep file needs: a larger file was named by mistake. */
const MAX_SWEEP_FILE_BYTES = 1_048_576n;

/** `passed`: names of resources, which stay in the command. Throws one error with all mistakes of the file. */
export async function loadSweep(path: string, passed?: ReadonlySet<string>): Promise<Sweep> {
  const seen = await look(path);
  switch (seen.kind) {
    case "file":
      if (seen.bytes <= MAX_SWEEP_FILE_BYTES) return readSweepFile(path, passed);
      throw new UserError(`${path}: is too large for a sweep file (${seen.bytes} bytes)`);
    case "directory":
      throw new UserError(`${path}: is a directory, not a sweep file`, { hint: "name the file in it" });
    case "unreadable":
      throw new UserError(`${path}: the sweep file cannot be read`, { hint: `ls -l ${path}` });
    case "absent":
      throw new UserError(`${path}: there is no such sweep file`, { hint: await nearestFile(path) });
    default:
      return seen satisfies never;
  }
}

async function readSweepFile(path: string, passed?: ReadonlySet<string>): Promise<Sweep> {
  const { sweep, problems } = parseSweep(await readFile(path), path, passed);
  if (sweep === null) throw problemsError(problems);
  return sweep;
}

async function nearestFile(path: string): Promise<string> {
  const name = basename(path);
  const others = (await listDirectory(dirname(path))).filter(
    (other) => other !== name && /\.ya?ml$/.test(other),
  );
  const [nearest] = suggest(name, others);
  return nearest === undefined
    ? `check the path with ls ${dirname(path)}`
    : `did you mean ${join(dirname(path), nearest)}?`;
}
