// The commands that look at or act on a batch that is under way or done: read into one resolved value each.

import { Command } from "commander";
import {
  describeChoice,
  describeSsh,
  type MachineChoice,
  type RawChoice,
  type RawSsh,
  resolveChoice,
  resolveSsh,
  type SshOptions,
} from "./ssh-options.js";

export type BatchInvocation =
  | { readonly command: "status"; readonly options: StatusOptions }
  | { readonly command: "logs"; readonly options: LogsOptions }
  | { readonly command: "clean"; readonly options: CleanOptions };

export interface StatusOptions extends SshOptions {
  /** A batch's name, or its script; null: all of this directory. */
  readonly batch: string | null;
  readonly isJson: boolean;
}

export interface LogsOptions extends SshOptions {
  /** A job's name, or its line number. */
  readonly job: string;
  readonly stream: "out" | "err";
  /** Until the job ends. */
  readonly follows: boolean;
}

/** No machines: those of this directory's records, or this computer. */
export interface CleanOptions extends MachineChoice, SshOptions {
  /** The only ones to remove, collected or not; empty: all of which nothing is left to collect. */
  readonly batches: readonly string[];
  readonly isDryRun: boolean;
}

/** `choose` is called with what was asked for. */
export function batchCommands(choose: (invocation: BatchInvocation) => void): Command[] {
  return [describeStatus(choose), describeLogs(choose), describeClean(choose)];
}

type Choose = Parameters<typeof batchCommands>[0];

function describeStatus(choose: Choose): Command {
  return describeSsh(new Command("status"))
    .description("Shows how far the batches of this directory are.")
    .argument("[batch]", "one of them, by its name or its script")
    .option("--json", "one object a job")
    .action((batch: string | undefined, raw: RawSsh & { json?: true }) =>
      choose({
        command: "status",
        options: { ...resolveSsh(raw), batch: batch ?? null, isJson: raw.json ?? false },
      }),
    );
}

function describeLogs(choose: Choose): Command {
  return describeSsh(new Command("logs"))
    .description("Prints what a job has printed so far, wherever it is.")
    .argument("<job>", "its name, or its line number if there is one batch here")
    .option("-f, --follow", "go on until the job ends")
    .option("--err", "what it printed as errors instead")
    .action((job: string, raw: RawSsh & { follow?: true; err?: true }) =>
      choose({
        command: "logs",
        options: {
          ...resolveSsh(raw),
          job,
          stream: raw.err ? "err" : "out",
          follows: raw.follow ?? false,
        },
      }),
    );
}

function describeClean(choose: Choose): Command {
  const command = new Command("clean")
    .description("Shows what is left on machines, and removes what nobody needs any more.")
    .argument("[batches...]", "remove these alone, their uncollected results too");
  describeChoice(command, "without any, those of this directory's batches");
  return describeSsh(command)
    .option("--dry-run", "only show it")
    .action((batches: string[], raw: RawChoice & RawSsh & { dryRun?: true }) =>
      choose({
        command: "clean",
        options: {
          ...resolveChoice(raw),
          ...resolveSsh(raw),
          batches,
          isDryRun: raw.dryRun ?? false,
        },
      }),
    );
}
