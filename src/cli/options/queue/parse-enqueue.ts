// Reads the words of `enqueue` once it is clear where its command begins, or leaves that to the service's answer.

import { Option } from "commander";
import { UserError } from "../../../errors.js";
import { spellOut } from "../abbreviations.js";
import { hasJsonWord } from "../json-word.js";
import { addOpposites } from "../opposites.js";
import { describeEnqueue, type EnqueueOptions, type OpenEnqueueInvocation } from "./enqueue-options.js";
import { type EnqueueReading, readEnqueueWords, type TakenBy } from "./enqueue-words.js";
import type { AskedServer } from "./server-options.js";

/** `read`: by commander, with the options of one reading. Null: it has answered, as `--help` does. */
export function parseEnqueue<T>(
  argv: readonly string[],
  read: (reading: EnqueueReading) => T,
  optionsOf: (invocation: T) => EnqueueOptions | null,
  hasConfig: boolean,
): T | OpenEnqueueInvocation {
  const { first, asQueue, asCommand } = readEnqueueWords(argv, takenByEnqueue());
  if (first === null) return read(asQueue);
  const serverIn = (reading: EnqueueReading) =>
    namesServer(reading) ? serverOf(() => optionsOf(read(reading))) : null;
  const ifCommand =
    serverIn(asCommand) ?? (hasConfig ? serverOf(() => optionsOf(read(asCommand))) : null) ?? NO_SERVER;
  return {
    command: "enqueue-open",
    first,
    isJson: hasJsonWord(asCommand.options),
    servers: {
      ifQueue: serverIn(asQueue) ?? ifCommand,
      ifCommand,
    },
    read: (isQueue) => optionsOf(read(isQueue ? asQueue : asCommand)),
  };
}

const NO_SERVER: AskedServer = { typed: null, byDefault: null, tokenFile: null, hostKeys: null };

/** Reading options that need not be read would take time, and answer a --help of the command. */
function namesServer({ options }: EnqueueReading): boolean {
  const isHelp = (word: string) => /^(-h|--h(e(lp?)?)?)$/.test(word);
  return options.some((word) => /^--se/.test(word)) && !options.some(isHelp);
}

/** Null: the words have a mistake, if they are read like this. */
function serverOf(read: () => EnqueueOptions | null): AskedServer | null {
  try {
    return read()?.server ?? null;
  } catch (error) {
    if (error instanceof UserError) return null;
    throw error;
  }
}

function takenByEnqueue(): TakenBy {
  const command = addOpposites(describeEnqueue(null, () => {}).addOption(new Option("-h, --help")));
  return (word) => {
    const [name = ""] = spelled(word, command).split("=");
    const option = command.options.find(({ long, short }) => long === name || short === name);
    if (option === undefined) return null;
    if (word.includes("=") || !(option.required || option.optional)) return "none";
    return option.variadic ? "many" : "one";
  };
}

/** An ambiguous one is no option here: as the first, commander refuses it; later, the command may know it. */
function spelled(word: string, command: Parameters<typeof spellOut>[1]): string {
  try {
    return spellOut([word], command)[0] ?? word;
  } catch (error) {
    if (error instanceof UserError) return word;
    throw error;
  }
}
