// Joins configuration files to a program: before a command acts, it gets what its command line leaves open.

import type { Command } from "commander";
import { addOpposites } from "../opposites.js";
import type { Environment } from "../option-values.js";
import { applySettings, settingsFor } from "./apply-settings.js";
import { type Configuration, readConfiguration } from "./config-settings.js";
import type { LoadedConfig } from "./load-config.js";
import type { Applied } from "./origins.js";
import { variablesOf } from "./variables.js";

export interface Configuring {
  readonly loaded: LoadedConfig;
  readonly env: Environment;
  /** Null: the program has defaults of its own, but for how machines are reached. */
  readonly sectionOf: (command: Command) => string | null;
  /** All commands of sshoal: their options are the keys of files. */
  readonly allCommands: () => readonly Command[];
  /** Is called with what counts for the command. */
  readonly onApplied: (applied: Applied) => void;
}

/** They have no options, and work although a file has mistakes. */
const WITHOUT_SETTINGS = ["completion", "complete-words"];

/**
 * Returns a function that reads what the files say, and throws UserError when they have mistakes. A command calls it before
 * it acts; --help does not.
 */
export function configure(root: Command, configuring: Configuring): () => Configuration {
  const { loaded, env, sectionOf, allCommands, onApplied } = configuring;
  let known: Configuration | null = null;
  const read = () => {
    known ??= readConfiguration(loaded, allCommands().map(addOpposites));
    return known;
  };
  if (loaded.files.length === 0) return read;
  root.hook("preAction", (_, command) => {
    if (WITHOUT_SETTINGS.includes(command.name())) return;
    const configuration = read();
    const { groups } = configuration;
    const settings = applySettings(command, settingsFor(command, sectionOf(command), configuration), env);
    command.setOptionValueWithSource("groups", groups, "config");
    command.setOptionValueWithSource("variables", variablesOf(configuration, env), "config");
    onApplied({ settings, groups });
  });
  return read;
}
