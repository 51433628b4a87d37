// The commands that look at or act on a batch that is under way or done: read into one resolved value each.

import { Command } from "commander";

export type BatchInvocation = { readonly command: "status"; readonly options: StatusOptions };

export interface StatusOptions {
  readonly isJson: boolean;
}

/** `choose` is called with what was asked for. */
export function batchCommands(choose: (invocation: BatchInvocation) => void): Command[] {
  const status = new Command("status")
    .description("Shows how far the batches of this directory are.")
    .option("--json", "one object a job")
    .action((raw: { json?: true }) => choose({ command: "status", options: { isJson: raw.json ?? false } }));
  return [status];
}
