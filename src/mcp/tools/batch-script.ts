// Writes the commands of a call to a batch file in the directory, so that the batch can be continued with any client.

import { createHash, randomUUID } from "node:crypto";
import { readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { UserError } from "../../errors.js";
import { batchText } from "./batch-text.js";
import type { OwnCommandOf } from "./need-fields.js";

/** The last line of such a file: only these are replaced. */
const MARK = "# Written by sshoal mcp.\n";

interface Script {
  readonly directory: string;
  readonly commands: readonly OwnCommandOf[];
  /** Without one, the name comes from the commands, so that the same call is the same batch. */
  readonly name: string | undefined;
  readonly replaces: boolean;
}

/** Returns the name of the file. Throws UserError. */
export async function writeScript({ directory, commands, name, replaces }: Script): Promise<string> {
  const given = name === undefined ? null : fileName(name);
  const text = `${await batchText(commands)}${MARK}`;
  const script = given ?? `batch-${digest(text)}.sh`;
  const file = join(directory, script);
  const before = textOf(file);
  if (before === text) return script;
  if (before !== null && !before.endsWith(MARK))
    throw new UserError(`name: ${script} exists, and no call of this tool has written it`, {
      hint: `another name, or run its commands with script: "${script}"`,
    });
  if (before !== null && !replaces)
    throw new UserError(`name: ${script} exists with other commands`, {
      hint: "another name, or replace: true, which runs only the commands that are new or have changed",
    });
  replaceFile(file, text, before === null);
  return script;
}

function fileName(name: string): string {
  if (/^[A-Za-z0-9_][\w.-]{0,99}$/.test(name)) return name.endsWith(".sh") ? name : `${name}.sh`;
  throw new UserError(`name: ${JSON.stringify(name)} is no name for a batch`, {
    hint: "up to 100 letters, digits, _, - and dots, such as lr-sweep",
  });
}

function digest(text: string): string {
  return createHash("sha256").update(text).digest("hex").slice(0, 8);
}

/** Null: there is no such file. */
function textOf(file: string): string | null {
  try {
    return readFileSync(file, "utf8");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return null;
    throw cannot("read", file, error);
  }
}

/** Another call, or a client that reads the file, never sees half of it. */
function replaceFile(file: string, text: string, isNew: boolean): void {
  const beside = `${file}.${randomUUID().slice(0, 8)}.tmp`;
  try {
    if (isNew) {
      writeFileSync(file, text, { mode: 0o600, flag: "wx" });
      return;
    }
    writeFileSync(beside, text, { mode: 0o600, flag: "wx" });
    renameSync(beside, file);
  } catch (error) {
    rmSync(beside, { force: true });
    throw cannot("write", file, error);
  }
}

function cannot(verb: string, file: string, cause: unknown): UserError {
  return new UserError(`cannot ${verb} ${file}: ${(cause as Error).message}`, {
    hint: "name a directory that you can write to",
    cause,
  });
}
