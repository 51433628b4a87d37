// Loads a batch file from disk.

import { createReadStream } from "node:fs";
import { basename, dirname, join } from "node:path";
import { UserError } from "../../errors.js";
import { listDirectory, look } from "../look.js";
import { suggest } from "../suggest.js";
import { bashAt } from "./ask-bash.js";
import { type Batch, parseBatch } from "./batch-file.js";

/** Millions of commands. No text of JavaScript can be longer. */
const MOST_BYTES = 500 << 20;

/** `stem`: the prefix for the names of its jobs. */
export async function loadBatch(path: string, stem?: string, mostBytes: number = MOST_BYTES): Promise<Batch> {
  const { kind } = await look(path);
  switch (kind) {
    case "file":
      return parseBatch(await readUpTo(path, mostBytes), path, bashAt("bash"), stem);
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

/** Devices and pipes have no size, and may have no end. */
async function readUpTo(path: string, mostBytes: number): Promise<Buffer> {
  const pieces: Buffer[] = [];
  let bytes = 0;
  for await (const piece of createReadStream(path) as AsyncIterable<Buffer>) {
    bytes += piece.length;
    if (bytes > mostBytes)
      throw new UserError(`${path}: is too large for a script (more than ${mostBytes} bytes)`, {
        hint: "divide it into several, or pipe the commands into sshoal",
      });
    pieces.push(piece);
  }
  return Buffer.concat(pieces);
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
