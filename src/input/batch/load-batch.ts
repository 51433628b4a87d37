// Loads a batch file from disk.

import { readFile } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { UserError } from "../../errors.js";
import { listDirectory, look } from "../look.js";
import { suggest } from "../suggest.js";
import { bashAt } from "./ask-bash.js";
import { type Batch, parseBatch } from "./batch-file.js";

/** `stem`: the prefix for the names of its jobs. */
export async function loadBatch(path: string, stem?: string): Promise<Batch> {
  const { kind } = await look(path);
  switch (kind) {
    case "file":
      return parseBatch(await readFile(path), path, bashAt("bash"), stem);
    case "directory":
      throw new UserError(`${path}: is a directory, not a script`, { hint: "name the script in it" });
    case "unreadable":
      throw new UserError(`${path}: the script cannot be read`, { hint: `ls -l ${path}` });
    case "absent":
      throw new UserError(`${path}: there is no such script`, { hint: await nearestScript(path) });
    default:
      return kind satisfies never;
  }
}

async function nearestScript(path: string): Promise<string> {
  const name = basename(path);
  // A link to a missing file is listed under the name itself.
  const others = (await listDirectory(dirname(path))).filter((other) => other !== name);
  const [nearest] = suggest(name, others);
  return nearest === undefined
    ? `check the path with ls ${dirname(path)}`
    : `did you mean ${join(dirname(path), nearest)}?`;
}
