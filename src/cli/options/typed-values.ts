// Separates what was typed from the values of configuration files and from built-in defaults.

import type { Command } from "commander";

/** Only the values that the command line itself has. */
export function typedIn<Raw extends object>(raw: Raw, command: Command): Partial<Raw> {
  const typed = Object.entries(raw).filter(([name]) => command.getOptionValueSource(name) === "cli");
  return Object.fromEntries(typed) as Partial<Raw>;
}
