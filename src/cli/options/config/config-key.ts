// Which option a key of a configuration file means: its flag without the dashes, or that of its opposite.

import type { Command, Option } from "commander";
import type { Mistake } from "../../../input/mistake.js";
import { suggest } from "../../../input/suggest.js";

export interface Key {
  /** The one that is written, maybe an opposite: `no-tee`. */
  readonly written: Option;
  /** The one that help lists: `--tee`. */
  readonly listed: Option;
}

interface WrittenKey {
  readonly section: string | null;
  readonly key: string;
  readonly offset: number;
}

/** Options that a file cannot set, of any command or of one, and why. */
const NOT_IN_FILES: Readonly<Record<string, string>> = {
  parameter: "it names what to run",
  "run follow": "it names what to run",
  state: "it chooses the jobs that the command is for",
  failed: "it chooses the jobs that the command is for",
  "wait timeout": "it is about this call, not about jobs",
  "clean maxOld": "clean removes earlier results only when that is typed",
  "clean here": "it says what the command is about",
  after: "it names jobs of a queue",
  afterAny: "it names jobs of a queue",
  afterFail: "it names jobs of a queue",
  hold: "it is about this call, not about jobs",
  enqueue: "it says what happens to the commands",
  "enqueue name": "it names one job",
  "enqueue out": "each job needs a file of its own",
  "sweep out": "each job needs a file of its own",
  "enqueue notify": "it would run for each job",
  "queue notify": "it would run for each queue",
  "enqueue copyForward": "jobs of a queue run in place, or with --freeze",
  "enqueue copyBackwards": "jobs of a queue run in place, or with --freeze",
  "attach machines": "a batch continues on the machines that it has",
};

/** Null, and a mistake, when it means none. */
export function findKey(written: WrittenKey, commands: readonly Command[], mistakes: Mistake[]): Key | null {
  const { section, key, offset } = written;
  const inScope = commands.filter((command) => section === null || command.name() === section);
  const found = inScope.flatMap((command) => {
    const option = command.options.find((each) => keyOf(each) === key);
    return option === undefined
      ? []
      : [{ command, key: { written: option, listed: listed(option, command) } }];
  });
  const mistake = found.length === 0 ? unknownKey(written, inScope, commands) : findConflict(written, found);
  if (mistake !== null) mistakes.push({ offset, ...mistake });
  return mistake === null ? (found[0]?.key ?? null) : null;
}

/** Without its dashes; an option may have a short flag only. */
function keyOf({ long, short }: Option): string {
  return (long ?? short ?? "").replace(/^-+/, "");
}

function listed(option: Option, { options }: Command): Option {
  const name = option.attributeName();
  return options.find((each) => !each.hidden && each.attributeName() === name) ?? option;
}

interface Found {
  readonly command: Command;
  readonly key: Key;
}

/** Commands may have different options by one name. */
function findConflict({ key }: WrittenKey, found: readonly Found[]): Omit<Mistake, "offset"> | null {
  const kinds = new Map(found.map((each) => [kindOf(each.key.listed), each.command.name()]));
  if (kinds.size > 1) {
    const [first, second] = [...kinds.values()];
    const message = `${key} does not mean the same for sshoal ${first} and sshoal ${second}`;
    return { message, hint: `write it into a section: ${second}: {${key}: …}` };
  }
  const reasons = found.map(({ command, key: { listed: option } }) => reasonAgainst(command.name(), option));
  const [reason = null] = reasons;
  if (reason === null || reasons.includes(null)) return null;
  return { message: `${key} cannot be set in a file: ${reason}`, hint: "type it on the command line" };
}

/** Null: a file can set it. */
export function reasonAgainst(command: string, option: Option): string | null {
  const name = option.attributeName();
  return NOT_IN_FILES[name] ?? NOT_IN_FILES[`${command} ${name}`] ?? null;
}

function kindOf({ required, optional, variadic, negate }: Option): string {
  return [required, optional, variadic, negate].join();
}

function unknownKey(
  { section, key }: WrittenKey,
  inScope: readonly Command[],
  commands: readonly Command[],
): Omit<Mistake, "offset"> {
  const names = (some: readonly Command[]) =>
    new Set(some.flatMap(({ options }) => options.filter(({ hidden }) => !hidden).map(keyOf)));
  const elsewhere = section !== null && names(commands).has(key);
  if (elsewhere)
    return { message: `sshoal ${section} has no option ${key}`, hint: "move it out of the section" };
  const others = section === null ? ["groups", ...commands.map((command) => command.name())] : [];
  // One letter is near to every other one.
  const words = [...names(inScope), ...others].filter((name) => name.length > 1);
  const [nearest] = suggest(key.replace(/^-+/, ""), words);
  const message = `unknown key ${JSON.stringify(key)}`;
  if (section === null && key === "execute_batch") return { message, hint: "write run: instead" };
  if (nearest !== undefined) return { message, hint: `did you mean ${nearest}?` };
  return { message, hint: `a key is an option without its dashes: sshoal ${section ?? "run"} --help` };
}
