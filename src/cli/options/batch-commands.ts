// The commands that look at or act on a batch that runs or is done: each is read into one resolved value.

import { Command } from "commander";
import type { JobChoice } from "../../batch/choose-jobs.js";
import type { MachineChoice } from "../../batch/surroundings.js";
import { UserError } from "../../errors.js";
import { chosenJobs, describeJobs, type RawJobs, requireJobs } from "./job-options.js";
import { lineCountOption } from "./option-values.js";
import {
  describeChoice,
  describeSsh,
  type RawChoice,
  type RawSsh,
  resolveChoice,
  resolveSsh,
  type SshOptions,
} from "./ssh-options.js";

export type BatchInvocation =
  | { readonly command: "status"; readonly options: StatusOptions }
  | { readonly command: "results"; readonly options: ResultsOptions }
  | { readonly command: "logs"; readonly options: LogsOptions }
  | { readonly command: "clean"; readonly options: CleanOptions };

export interface StatusOptions extends SshOptions {
  /** A batch's name, or its script; null: all of this directory. */
  readonly batch: string | null;
  readonly isJson: boolean;
}

export interface ResultsOptions extends SshOptions {
  /** A batch's name, or its script; null: the only one of this directory. */
  readonly batch: string | null;
  readonly format: "table" | "csv" | "json" | "html";
  /** Null: in the order of the jobs. */
  readonly sort: { readonly column: string; readonly isDescending: boolean } | null;
}

export interface LogsOptions extends SshOptions {
  readonly jobs: JobChoice;
  readonly streams: readonly ("out" | "err")[];
  /** Until the jobs end. */
  readonly follows: boolean;
  /** How many lines of each stream come first; null: all. */
  readonly tail: number | null;
}

/** No machines: those of this directory's records, or this computer. */
export interface CleanOptions extends MachineChoice, SshOptions {
  /** The only ones to remove, collected or not; empty: all without anything to collect. */
  readonly batches: readonly string[];
  readonly isDryRun: boolean;
}

/** `choose` is called with the request. */
export function batchCommands(choose: (invocation: BatchInvocation) => void): Command[] {
  return [describeStatus(choose), describeResults(choose), describeLogs(choose), describeClean(choose)];
}

type Choose = Parameters<typeof batchCommands>[0];

function describeStatus(choose: Choose): Command {
  return describeSsh(new Command("status"))
    .description("Show the progress of this directory's batches.")
    .argument("[batch]", "name or script of one batch (default: all)")
    .option("--json", "print one JSON object per job")
    .action((batch: string | undefined, raw: RawSsh & { json?: true }) =>
      choose({
        command: "status",
        options: { ...resolveSsh(raw), batch: batch ?? null, isJson: raw.json ?? false },
      }),
    );
}

interface RawResults extends RawSsh {
  readonly sort?: string;
  readonly csv?: true;
  readonly json?: true;
  readonly html?: true;
}

function describeResults(choose: Choose): Command {
  return describeSsh(new Command("results"))
    .description("Print one row per job of a batch, with its parameters and metrics.")
    .argument("[batch]", "name or script of the batch; not needed if there is only one")
    .option("--sort <column>", "sort by a metric, a parameter or another column; -NAME: the largest first")
    .option("--csv", "print CSV, for a spreadsheet or a data frame")
    .option("--json", "print one JSON object per job")
    .option("--html", "print a page for a browser, with plots and a timeline")
    .addHelpText("after", METRICS_HELP)
    .action((batch: string | undefined, raw: RawResults) =>
      choose({
        command: "results",
        options: {
          ...resolveSsh(raw),
          batch: batch ?? null,
          format: resolveFormat(raw),
          sort: raw.sort === undefined ? null : resolveSort(raw.sort),
        },
      }),
    );
}

const METRICS_HELP = `
Examples:
  sshoal results --sort -acc
  sshoal results --html > results.html

A job leaves metrics by printing a line such as
  sshoal: acc=0.91 loss=0.2
or a JSON object as the last line of its output, or in a file metrics.json.
`;

function resolveFormat(raw: RawResults): ResultsOptions["format"] {
  const asked = (["csv", "json", "html"] as const).filter((format) => raw[format]);
  if (asked.length < 2) return asked[0] ?? "table";
  throw new UserError(`${asked.map((format) => `--${format}`).join(" and ")}: one at a time`, {
    hint: `sshoal results --${asked[0]}`,
  });
}

function resolveSort(text: string): ResultsOptions["sort"] {
  const [, minus, column = ""] = /^(-?)(.*)$/s.exec(text) ?? [];
  return { column, isDescending: minus === "-" };
}

function describeLogs(choose: Choose): Command {
  return describeSsh(describeJobs(new Command("logs")))
    .description(
      "Print the output of jobs so far, from this disk or from their machines: stdout, then stderr.",
    )
    .option("-f, --follow", "keep printing until the jobs end: lines of both as they come")
    .option("--out", "print only stdout")
    .option("--err", "print only stderr")
    .addOption(lineCountOption("--tail <n>", "begin with the last n lines of each"))
    .action((words: string[], raw: RawLogs) =>
      choose({
        command: "logs",
        options: {
          ...resolveSsh(raw),
          jobs: requireJobs(chosenJobs(words, raw), "sshoal logs"),
          streams: raw.out === raw.err ? ["out", "err"] : raw.err ? ["err"] : ["out"],
          follows: raw.follow ?? false,
          tail: raw.tail ?? null,
        },
      }),
    );
}

interface RawLogs extends RawSsh, RawJobs {
  readonly follow?: true;
  readonly out?: true;
  readonly err?: true;
  readonly tail?: number;
}

function describeClean(choose: Choose): Command {
  const command = new Command("clean")
    .description(
      "List the files that sshoal left on machines, and remove those that are not needed any more.",
    )
    .argument("[batches...]", "remove only these batches, including results that are not collected");
  describeChoice(command, "default: the machines of this directory's batches");
  return describeSsh(command)
    .option("--dry-run", "only list, remove nothing")
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
