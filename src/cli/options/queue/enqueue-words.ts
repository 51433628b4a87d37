// Finds the queue, the options and the command in the words of `enqueue`. Options end where the command begins, so that
// `enqueue python train.py --name x` passes --name on to the command.

export interface EnqueueReading {
  readonly options: readonly string[];
  /** Null: the default queue. */
  readonly queue: string | null;
  readonly command: readonly string[];
  /** The command came after `--`, so a single word is no file. */
  readonly isMarked: boolean;
}

export interface EnqueueWords {
  /** Null: `asQueue` holds whether or not there is such a queue. */
  readonly first: string | null;
  /** If the first word is the name of a queue. */
  readonly asQueue: EnqueueReading;
  /** If it begins the command for the default queue. */
  readonly asCommand: EnqueueReading;
}

/** How many words an option takes; null: it is no option of enqueue. */
export type TakenBy = (word: string) => "none" | "one" | "many" | null;

/** `isStdinNamed`: a single `-` means jobs from stdin, and is no word of a command. */
export function readEnqueueWords(
  argv: readonly string[],
  takenBy: TakenBy,
  { isStdinNamed } = { isStdinNamed: true },
): EnqueueWords {
  const before = takeOptions(argv, 0, takenBy);
  const first = argv[before.end];
  if (first === undefined || first === "--") {
    const reading = {
      options: before.words,
      queue: null,
      command: argv.slice(before.end + 1),
      isMarked: first !== undefined,
    };
    return { first: null, asQueue: reading, asCommand: reading };
  }
  if (isStdinNamed && first === "-") return stdinOnly(argv, before, takenBy);
  const after = takeOptions(argv, before.end + 1, takenBy);
  const asCommand = {
    options: before.words,
    queue: null,
    command: argv.slice(before.end),
    isMarked: false,
  };
  const options = [...before.words, ...after.words];
  const next = argv[after.end];
  if (next === "--") {
    const reading = { options, queue: first, command: argv.slice(after.end + 1), isMarked: true };
    return { first: null, asQueue: reading, asCommand: reading };
  }
  const isStdin = isStdinNamed && next === "-";
  const late = isStdin ? argv.slice(after.end + 1) : [];
  const command = isStdin ? ["-"] : argv.slice(after.end);
  return {
    first,
    asQueue: { options: [...options, ...late], queue: first, command, isMarked: false },
    asCommand,
  };
}

/** No command is named `-`, so further options may follow. */
function stdinOnly(argv: readonly string[], { words, end }: Taken, takenBy: TakenBy): EnqueueWords {
  const late = takeOptions(argv, end + 1, takenBy);
  const rest = argv.slice(late.end);
  const reading = {
    options: [...words, ...late.words, ...rest],
    queue: null,
    command: ["-"],
    isMarked: false,
  };
  return { first: null, asQueue: reading, asCommand: reading };
}

interface Taken {
  readonly words: readonly string[];
  /** The index of the first word that is not taken. */
  readonly end: number;
}

/** The options from there on, with their values. An unknown one ends them if a word came before. */
function takeOptions(argv: readonly string[], from: number, takenBy: TakenBy): Taken {
  let end = from;
  while (end < argv.length) {
    const word = argv[end] ?? "";
    if (word === "--" || !isOption(word)) break;
    const taken = takenBy(word);
    if (taken === null && from > 0) break;
    end += 1;
    if (taken === "one") end += 1;
    if (taken === "many") while (end < argv.length && !/^-./s.test(argv[end] ?? "")) end += 1;
  }
  end = Math.min(end, argv.length);
  return { words: argv.slice(from, end), end };
}

function isOption(word: string): boolean {
  return /^-./s.test(word);
}
