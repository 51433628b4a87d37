// Decides to which queue the words of `grass enqueue` go, and which of them are variables. Pure.

import { UserError } from "../../../errors.js";
import { suggest } from "../../../input/suggest.js";
import { DEFAULT_QUEUE, type QueueSpec } from "../../../model/queue.js";
import { ownPrefix } from "./worker-queue.js";

export interface Placed<Q> {
  readonly queue: Q;
  /** Without those before the program that set variables. */
  readonly words: readonly string[];
  /** As typed: NAME=VALUE. */
  readonly variables: readonly string[];
  /** The queue was not named. */
  readonly note: string | null;
}

interface Asked {
  /** Null: the first word may be one. */
  readonly queue: string | null;
  readonly words: readonly string[];
}

const ASSIGNMENT = /^[A-Za-z_][A-Za-z0-9_]*=/;

/** Throws UserError if no queue is meant, or there is no command. */
export function placeJob<Q extends Pick<QueueSpec, "name" | "prefix">>(
  asked: Asked,
  queues: readonly Q[],
  isProgram: (word: string) => boolean,
): Placed<Q> {
  const { name, words } = nameIn(asked, queues);
  if (name === null)
    return {
      ...inDefault(words, queues, isProgram),
      note: `no queue is named ${programOf(words)}: this goes to the queue ${DEFAULT_QUEUE}`,
    };
  const queue = queues.find((each) => each.name === name);
  if (queue === undefined) throw noSuchQueue(name, queues);
  // The words of a queue with a command are its arguments: `lr=0.01` is one of them.
  if (ownPrefix(queue).length > 0) return { queue, words, variables: [], note: null };
  checkBeginning(words);
  return { queue, ...withoutVariables(words, queue.name), note: null };
}

/** A mistyped option is no program. */
function checkBeginning([first = ""]: readonly string[]): void {
  if (/^-./s.test(first)) throw new UserError(`unknown option '${first}'`, { hint: "grass enqueue --help" });
}

function nameIn(
  { queue, words }: Asked,
  queues: readonly Pick<QueueSpec, "name">[],
): { readonly name: string | null; readonly words: readonly string[] } {
  if (queue !== null) return { name: queue, words };
  const [first, ...rest] = words;
  const isQueue = queues.some(({ name }) => name === first);
  return isQueue && first !== undefined ? { name: first, words: rest } : { name: null, words };
}

function inDefault<Q extends Pick<QueueSpec, "name" | "prefix">>(
  words: readonly string[],
  queues: readonly Q[],
  isProgram: (word: string) => boolean,
): Omit<Placed<Q>, "note"> {
  const queue = queues.find(({ name }) => name === DEFAULT_QUEUE);
  const program = programOf(words);
  if (queue === undefined || !isProgram(program)) throw noSuchQueue(program, queues, ", and no program");
  return { queue, ...withoutVariables(words, "") };
}

function programOf(words: readonly string[]): string {
  return words.find((word) => !ASSIGNMENT.test(word)) ?? "";
}

function withoutVariables(
  words: readonly string[],
  queue: string,
): Pick<Placed<never>, "words" | "variables"> {
  const at = words.findIndex((word) => !ASSIGNMENT.test(word));
  if (at !== -1) return { words: words.slice(at), variables: words.slice(0, at) };
  throw new UserError("which command?", { hint: `grass enqueue ${queue || "q1"} -- python train.py` });
}

export function noSuchQueue(name: string, queues: readonly Pick<QueueSpec, "name">[], also = ""): UserError {
  const [nearest] = suggest(
    name,
    queues.map((each) => each.name),
  );
  const hint =
    nearest === undefined ? `grass create-queue ${name}, or grass show` : `did you mean ${nearest}?`;
  return new UserError(`there is no queue ${name}${also}`, { hint });
}
