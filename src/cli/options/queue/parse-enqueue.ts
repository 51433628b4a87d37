// Reads the words of `enqueue` once it is clear where its command begins, or leaves that to the service's answer.

import { Option } from "commander";
import { UserError } from "../../../errors.js";
import { spellOut } from "../abbreviations.js";
import { hasJsonWord } from "../json-word.js";
import { addOpposites } from "../opposites.js";
import { describeEnqueue, type EnqueueOptions, type OpenEnqueueInvocation } from "./enqueue-options.js";
import { type EnqueueReading, readEnqueueWords, type TakenBy } from "./enqueue-words.js";

/** `read`: by commander, with the options of one reading. Null: it has answered, as `--help` does. */
export function parseEnqueue<T>(
  argv: readonly string[],
  read: (reading: EnqueueReading) => T,
  optionsOf: (invocation: T) => EnqueueOptions | null,
): T | OpenEnqueueInvocation {
  const { first, asQueue, asCommand } = readEnqueueWords(argv, takenByEnqueue());
  if (first === null) return read(asQueue);
  return {
    command: "enqueue-open",
    first,
    isJson: hasJsonWord(asCommand.options),
    read: (isQueue) => optionsOf(read(isQueue ? asQueue : asCommand)),
  };
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
