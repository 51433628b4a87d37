// What a command's help adds to its options: notes, and examples at the end. Kept beside the command, so that man pages have them too.

import type { Command } from "commander";

export interface Example {
  /** `Run it on two machines`. */
  readonly does: string;
  readonly line: string;
}

export interface Note {
  readonly heading: string;
  /** One paragraph; it is wrapped where it is shown. */
  readonly text: string;
}

const examples = new WeakMap<Command, readonly Example[]>();
const notes = new WeakMap<Command, readonly Note[]>();

/** Each as what it does and what to type. */
export function withExamples(command: Command, pairs: readonly (readonly [string, string])[]): Command {
  examples.set(
    command,
    pairs.map(([does, line]) => ({ does, line })),
  );
  return command;
}

export function withNote(command: Command, heading: string, text: string): Command {
  notes.set(command, [...notesOf(command), { heading, text }]);
  return command;
}

export function examplesOf(command: Command): readonly Example[] {
  return examples.get(command) ?? [];
}

export function notesOf(command: Command): readonly Note[] {
  return notes.get(command) ?? [];
}
