// Configuration files as text, without a disk.

import { type LoadedConfig, NO_CONFIG } from "../../../../../src/cli/options/config/load-config.js";
import { type Invocation, type Program, parseOptions } from "../../../../../src/cli/options/options.js";
import type { RunOptions } from "../../../../../src/cli/options/run-options.js";
import { UserError } from "../../../../../src/errors.js";
import { parseConfig } from "../../../../../src/input/config/config-file.js";
import type { ConfigLevel } from "../../../../../src/input/config/find-config.js";

const PATHS: Readonly<Record<ConfigLevel, string>> = {
  user: "/home/ada/.config/sshoal/config.yaml",
  project: "/work/p/.sshoal.yaml",
};

export interface Texts {
  readonly user?: string;
  readonly project?: string;
  /** Where the command runs. */
  readonly cwd?: string;
}

export function aConfig({ cwd = "/work/p/sub", ...texts }: Texts): LoadedConfig {
  const files = (["user", "project"] as const).flatMap((level) => {
    const text = texts[level];
    return text === undefined ? [] : [{ level, path: PATHS[level], ...parseConfig(text, PATHS[level]) }];
  });
  const places = files.map(({ level, path }) => ({ level, path, isThere: true }));
  return { places, files, surroundings: { ...NO_CONFIG.surroundings, cwd, homeDir: "/home/ada" } };
}

interface Typed {
  readonly program?: Program;
  readonly env?: Readonly<Record<string, string>>;
}

export function parseWith(texts: Texts, argv: readonly string[], typed: Typed = {}): Invocation {
  const { program = "sshoal", env = {} } = typed;
  return parseOptions({ program, argv, env, config: aConfig(texts) });
}

/** What `sshoal run jobs.sh` is asked for. */
export function runWith(texts: Texts, ...argv: string[]): RunOptions {
  const invocation = parseWith(texts, ["run", "jobs.sh", ...argv]);
  if (invocation.command !== "run") throw new Error(`it is ${invocation.command}`);
  return invocation.options;
}

/** One line per mistake: where and what. */
export function mistakesOf(texts: Texts, argv: readonly string[] = ["status"], typed: Typed = {}): string[] {
  try {
    parseWith(texts, argv, typed);
  } catch (error) {
    if (!(error instanceof UserError)) throw error;
    return error.problems.length > 0 ? error.message.split("\n") : [error.message];
  }
  return [];
}
