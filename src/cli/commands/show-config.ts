// `sshoal config`: prints what configuration files set, and where each value comes from.

import { ExitCode } from "../../errors.js";
import { configJson, configLines, type ShownConfig } from "../../report/tables/config-lines.js";
import { printable } from "../../report/text/printable.js";
import type { ConfigOptions } from "../options/config/config-command.js";
import type { Setting } from "../options/config/config-settings.js";
import { variableOf } from "../options/option-values.js";

export function showConfig({ places, settings, groups, command, isJson }: ConfigOptions): ExitCode {
  const shown: ShownConfig = {
    files: places,
    settings: settings.map((setting) => ({
      command: setting.section,
      key: setting.key,
      words: wordsOf(setting),
      origin: setting.place,
    })),
    groups: [...groups].map(([name, { machines, place }]) => ({ name, machines, origin: place })),
  };
  const lines = isJson ? [configJson(shown)] : configLines(shown, command).map(printable);
  process.stdout.write(lines.map((line) => `${line}\n`).join(""));
  return ExitCode.Success;
}

/** Values of variables, and the address of a webhook in a command, may be secrets. */
function wordsOf({ option, words }: Setting): readonly string[] {
  switch (option.attributeName()) {
    case "env":
      return words.map(variableOf);
    case "notify":
      return words.map((command) => (command === "" ? "" : "(a command)"));
    default:
      return words;
  }
}
