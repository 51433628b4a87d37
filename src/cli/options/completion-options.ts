// `sshoal completion`, which prints a script for a shell, and the hidden command that such scripts ask for names.

import { Argument, Command } from "commander";
import { WORD_KINDS, type WordKind } from "../../model/word-kind.js";
import { withExamples, withNote } from "../help/examples.js";

const SHELLS = ["bash", "zsh", "fish"] as const;
export type Shell = (typeof SHELLS)[number];

export type CompletionInvocation =
  | { readonly command: "completion"; readonly options: { readonly shell: Shell } }
  | { readonly command: "complete-words"; readonly options: WordsOptions };

export interface WordsOptions {
  readonly kind: WordKind;
  /** What was typed of the word. */
  readonly start: string;
}

export function describeCompletion(choose: (invocation: CompletionInvocation) => void): Command {
  const command = new Command("completion")
    .description("Print a script that completes commands, options and names in a shell.")
    .addArgument(new Argument("<shell>", "the shell that reads the script").choices(SHELLS))
    .action((shell: Shell) => choose({ command: "completion", options: { shell } }));
  withNote(
    command,
    "Programs",
    "the script also completes execute_batch and the other programs that come with sshoal.",
  );
  return withExamples(command, [
    ["Turn on completion in this bash", "source <(sshoal completion bash)"],
    ["Turn on completion in this zsh", "source <(sshoal completion zsh)"],
    ["Turn on completion in this fish", "sshoal completion fish | source"],
  ]);
}

/** Prints names that begin with the word, one per line. */
export function describeWords(choose: (invocation: CompletionInvocation) => void): Command {
  return new Command("complete-words")
    .addArgument(new Argument("<kind>").choices(WORD_KINDS))
    .argument("[start]", "", "")
    .action((kind: WordKind, start: string) =>
      choose({ command: "complete-words", options: { kind, start } }),
    );
}
