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

/** Of variables their names only: values may be secrets. */
function wordsOf({ option, words }: Setting): readonly string[] {
  return option.attributeName() === "env" ? words.map(variableOf) : words;
}
