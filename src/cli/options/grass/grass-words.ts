// Finds the queue, the options and the command in the words of `grass enqueue` and `grass create-queue`. Options end where
// the command begins, with or without `--`.

import { type Command, Option } from "commander";
import { type EnqueueReading, readEnqueueWords, type TakenBy } from "../queue/enqueue-words.js";

/** Commands whose other words commander does not get. */
const WITH_COMMANDS = ["enqueue", "create-queue"];

export interface GrassWords {
  /** If the first word without a dash is the name of a queue. */
  readonly asQueue: EnqueueReading;
  /** If it begins the command. */
  readonly asCommand: EnqueueReading;
  /** The word that decides between them; null: nothing is to be decided. */
  readonly first: string | null;
}

export function hasGrassWords([command = ""]: readonly string[]): boolean {
  return WITH_COMMANDS.includes(command);
}

/** `command`: with the options that the words may have. */
export function readGrassWords(argv: readonly string[], command: Command): GrassWords {
  return readEnqueueWords(argv, takenByGrass(command), { isStdinNamed: false });
}

/** Grass has no shortened options, so `--lr=0.01` after a queue is a word of the command. */
function takenByGrass(command: Command): TakenBy {
  const options = [...command.options, new Option("-h, --help")];
  return (word) => {
    const isLong = word.startsWith("--");
    const name = isLong ? word.replace(/=.*/s, "") : word.slice(0, 2);
    const option = options.find(({ long, short }) => long === name || short === name);
    if (option === undefined) return null;
    const isJoined = isLong ? word.includes("=") : word.length > 2;
    return isJoined || !option.required ? "none" : "one";
  };
}
