// Adds the opposite of each option that a batch file or a configuration file may have set, so that the command line can
// undo it: --no-tee, --gpu-required, --no-timeout. Help does not list them.

import { type Command, Option } from "commander";

/** Options with a value that can be left out: no value that a user could type instead means the same. */
const UNDONE_BY_NONE = [
  "machines",
  "gpus",
  "exclude",
  "gpuModel",
  "gpuMemoryTotal",
  "require",
  "timeout",
  "maxSend",
  "rerun",
  "tail",
  "sort",
  "nSamples",
];

export function addOpposites(command: Command): Command {
  for (const option of [...command.options]) {
    const flag = oppositeOf(option);
    if (flag === null || command.options.some(({ long }) => long === flag)) continue;
    const opposite = new Option(flag).hideHelp();
    command.addOption(opposite);
    if (option.negate) continue;
    // After commander's own handler, which sets false: what is undone is as if it had never been set.
    command.on(`option:${opposite.name()}`, () =>
      command.setOptionValueWithSource(option.attributeName(), option.defaultValue, "cli"),
    );
  }
  return command;
}

/** Its flag, `--no-tee`; null: the option has none. */
export function oppositeOf(option: Option): string | null {
  const { long, negate } = option;
  if (long === undefined) return null;
  if (negate) return long.replace(/^--no-/, "--");
  const canBeUndone = option.isBoolean() || UNDONE_BY_NONE.includes(option.attributeName());
  return canBeUndone ? long.replace(/^--/, "--no-") : null;
}
