// `sshoal config`: prints what configuration files set, and where each value comes from.

import { readHomeDir } from "../../account.js";
import { ExitCode } from "../../errors.js";
import {
  type ConfigLook,
  configJson,
  configLines,
  type ShownConfig,
} from "../../report/tables/config-lines.js";
import { printable } from "../../report/text/printable.js";
import { type ConfigOptions, shownWords } from "../options/config/config-command.js";
import { tableLook } from "../terminal/table-look.js";

export function showConfig({ places, settings, groups, command, isJson }: ConfigOptions): ExitCode {
  const shown: ShownConfig = {
    files: places,
    settings: settings.map((setting) => ({
      command: setting.section,
      key: setting.key,
      words: shownWords(setting),
      origin: setting.place,
    })),
    groups: [...groups].map(([name, { machines, place }]) => ({ name, machines, origin: place })),
  };
  const lines = isJson ? [configJson(shown)] : configLines(shown, command, readLook()).map(printable);
  process.stdout.write(lines.map((line) => `${line}\n`).join(""));
  return ExitCode.Success;
}

function readLook(): ConfigLook {
  return { homeDir: readHomeDir(), columns: tableLook().rowColumns };
}
