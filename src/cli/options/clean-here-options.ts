// What `sshoal clean --here` can be asked for.

import type { Command } from "commander";
import { UserError } from "../../errors.js";
import type { RawChoice, RawSsh } from "./ssh-options.js";

export interface CleanHereOptions {
  /** These alone; empty: all that is here. */
  readonly batches: readonly string[];
  /** Null: all earlier results stay. */
  readonly maxOld: number | null;
  readonly isDryRun: boolean;
  readonly isJson: boolean;
}

export interface RawClean extends RawChoice, RawSsh {
  readonly dryRun?: true;
  readonly here?: true;
  /** Infinity: all. */
  readonly maxOld?: number;
  readonly json?: true;
}

/** Throws UserError for options that are about machines. */
export function resolveHere(batches: readonly string[], raw: RawClean, command: Command): CleanHereOptions {
  if (["machines", "F", "hostKeys"].some((name) => isTyped(command, name)))
    throw new UserError("--here is about this computer, and connects to no machine", {
      hint: "sshoal clean --here, or sshoal clean --machines …",
    });
  const { maxOld = Number.POSITIVE_INFINITY, dryRun: isDryRun = false, json: isJson = false } = raw;
  return { batches, maxOld: Number.isFinite(maxOld) ? maxOld : null, isDryRun, isJson };
}

/** Throws UserError for options that are about this computer. */
export function refuseWithoutHere(command: Command): void {
  if (isTyped(command, "maxOld"))
    throw new UserError("--max-old needs --here", { hint: "sshoal clean --here --max-old 2" });
}

/** On the command line: what is set elsewhere may be meant for other commands. */
function isTyped(command: Command, name: string): boolean {
  return command.getOptionValueSource(name) === "cli";
}
