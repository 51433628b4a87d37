// `sshoal config`: what it can be asked for, and which settings it is to show.

import { Command } from "commander";
import { UserError } from "../../../errors.js";
import type { ConfigPlace } from "../../../input/config/find-config.js";
import type { Groups } from "../../../input/config/machine-groups.js";
import { suggest } from "../../../input/suggest.js";
import { withExamples, withNote } from "../../help/examples.js";
import { variableOf } from "../option-values.js";
import { isOvertaken, settingsFor } from "./apply-settings.js";
import type { Configuration, Setting } from "./config-settings.js";

export interface ConfigInvocation {
  readonly command: "config";
  readonly options: ConfigOptions;
}

export interface ConfigOptions {
  /** Where files were looked for. */
  readonly places: readonly ConfigPlace[];
  /** That hold for `command`; null: for any command. */
  readonly settings: readonly Setting[];
  readonly command: string | null;
  readonly groups: Groups;
  readonly isJson: boolean;
}

export interface Configured {
  readonly places: readonly ConfigPlace[];
  /** Throws UserError when the files have mistakes. */
  readonly read: () => Configuration;
  readonly commands: () => readonly Command[];
}

export function describeConfig(
  { places, read, commands }: Configured,
  choose: (invocation: ConfigInvocation) => void,
): Command {
  const command = new Command("config")
    .description("Print what configuration files set, and where each value comes from.")
    .argument("[command]", "only what holds for this command, such as run")
    .option("--json", "print one JSON object");
  withNote(command, "Files", FILES);
  return withExamples(command, EXAMPLES).action((typed: string | undefined, raw: { json?: true }) => {
    const configuration = read();
    const chosen = typed === undefined ? null : findCommand(typed, commands());
    const settings =
      chosen === null ? shownOf(configuration.settings) : settingsFor(chosen, chosen.name(), configuration);
    const { groups } = configuration;
    const options = {
      places,
      settings,
      command: chosen?.name() ?? null,
      groups,
      isJson: raw.json ?? false,
    };
    choose({ command: "config", options });
  });
}

const FILES =
  "~/.config/sshoal/config.yaml, and .sshoal.yaml in the working directory or the nearest directory above it. Each line sets an option: machines: [gpu1, gpu2].";

const EXAMPLES = [
  ["Print what the files set for any command", "sshoal config"],
  ["Print what holds for sshoal run", "sshoal config run"],
] as const;

function findCommand(typed: string, commands: readonly Command[]): Command {
  const name = typed === "execute_batch" ? "run" : typed;
  const found = commands.find((command) => command.name() === name);
  if (found !== undefined) return found;
  const names = commands.map((command) => command.name());
  const [nearest] = suggest(typed, names);
  throw new UserError(`sshoal has no command ${typed}`, {
    hint: nearest === undefined ? `there are ${names.join(", ")}` : `did you mean sshoal config ${nearest}?`,
  });
}

/** Without those that hold for no command. */
function shownOf(settings: readonly Setting[]): Setting[] {
  return settings.filter((setting, index) => {
    const later = settings.slice(index + 1);
    return !isOvertaken(
      setting,
      later.filter(({ section }) => section === null || section === setting.section),
    );
  });
}

/** Without what may be a secret: the values of variables, and the command of --notify. */
export function shownWords({ option, words }: Setting): readonly string[] {
  switch (option.attributeName()) {
    case "env":
      return words.map(variableOf);
    case "notify":
      return words.filter((word) => word !== "").map(() => "(hidden)");
    default:
      return words;
  }
}
