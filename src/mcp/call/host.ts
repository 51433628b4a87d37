// What all tools share: the command line of sshoal, the directory to begin with, and what was learned from earlier calls.

import { statSync } from "node:fs";
import { resolve } from "node:path";
import { UserError } from "../../errors.js";
import { word } from "./arguments.js";
import type { BackgroundClients } from "./background-clients.js";
import type { OwnProgram } from "./own-command.js";
import type { Seen } from "./seen.js";

export interface Host extends OwnProgram {
  readonly cwd: string;
  readonly clients: BackgroundClients;
  readonly seen: Seen;
}

export const DIRECTORY = word(
  "The directory of the batch [the one in which the MCP server was started]. Batches and their jobs belong to a directory.",
);

/** Absolute. */
export function directoryOf({ cwd }: Host, typed: string | undefined): string {
  const directory = resolve(cwd, typed ?? ".");
  if (statSync(directory, { throwIfNoEntry: false })?.isDirectory()) return directory;
  throw new UserError(`directory: there is no directory ${directory}`, {
    hint: "create it first, or name another one",
  });
}
