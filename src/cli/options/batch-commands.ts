// The commands that look at or act on a batch that runs or is done: each is read into one resolved value.

import { Command } from "commander";
import type { JobChoice } from "../../batch/name/choose-jobs.js";
import type { MachineChoice } from "../../batch/surroundings.js";
import { UserError } from "../../errors.js";
import { withExamples, withNote } from "../help/examples.js";
import {
  type CleanHereOptions,
  type RawClean,
  refuseWithoutHere,
  resolveHere,
} from "./clean-here-options.js";
import { chosenJobs, describeJobs, type RawJobs, requireJobs } from "./job-options.js";
import { lineCountOption, maxOldOption } from "./option-values.js";
import { askedServer, describeServer, type RawServer, type WithServer } from "./queue/server-options.js";
import { describeChoice, describeSsh, resolveChoice, resolveSsh, type SshOptions } from "./ssh-options.js";

export type BatchInvocation =
  | { readonly command: "status"; readonly options: StatusOptions }
  | { readonly command: "results"; readonly options: ResultsOptions }
  | { readonly command: "logs"; readonly options: LogsOptions }
  | { readonly command: "clean"; readonly options: CleanOptions }
  | { readonly command: "clean-here"; readonly options: CleanHereOptions };

export interface StatusOptions extends SshOptions, WithServer {
  /** A batch's name, or its script; null: all of this directory. */
  readonly batch: string | null;
  /** All batches of this user on this computer. */
  readonly isAll: boolean;
  readonly isJson: boolean;
}

export interface ResultsOptions extends SshOptions, WithServer {
  /** A batch's name, or its script; null: the only one of this directory. */
  readonly batch: string | null;
  readonly format: "table" | "csv" | "json" | "html";
  /** Null: in the order of the jobs. */
  readonly sort: { readonly column: string; readonly isDescending: boolean } | null;
}

export interface LogsOptions extends SshOptions, WithServer {
  readonly jobs: JobChoice;
  readonly streams: readonly ("out" | "err")[];
  /** Until the jobs end. */
  readonly follows: boolean;
  /** How many lines of each stream come first; null: all. */
  readonly tail: number | null;
  readonly isJson: boolean;
}

/** No machines: those of this directory's records, or this computer. */
export interface CleanOptions extends MachineChoice, SshOptions {
  /** The only ones to remove, collected or not; empty: all without anything to collect. */
  readonly batches: readonly string[];
  readonly isDryRun: boolean;
  readonly isJson: boolean;
}

/** `choose` is called with the request. */
export function batchCommands(choose: (invocation: BatchInvocation) => void): Command[] {
  return [describeStatus(choose), describeResults(choose), describeLogs(choose), describeClean(choose)];
}

type Choose = Parameters<typeof batchCommands>[0];

function describeStatus(choose: Choose): Command {
  const command = describeServer(describeSsh(new Command("status")))
    .description("Show the progress of this directory's batches.")
    .argument("[batch]", "name or script of one batch (default: all)")
    .option("--all", "show all your batches on this computer, in any directory: one line per batch")
    .option("--json", "print one JSON object per job; with --all, one per batch");
  return withExamples(command, [
    ["Show all batches of this directory", "sshoal status"],
    ["Show all your batches on this computer", "sshoal status --all"],
    ["Print the jobs of one batch for a program", "sshoal status train.sh --json"],
  ]).action((batch: string | undefined, raw: RawServer & { all?: true; json?: true }) => {
    const { all: isAll = false, json: isJson = false } = raw;
    if (isAll && batch !== undefined)
      throw new UserError("--all shows every batch, not one", { hint: `sshoal status ${batch}` });
    choose({
      command: "status",
      options: { ...resolveSsh(raw), server: askedServer(raw), batch: batch ?? null, isAll, isJson },
    });
  });
}

interface RawResults extends RawServer {
  readonly sort?: string;
  readonly csv?: true;
  readonly json?: true;
  readonly html?: true;
}

function describeResults(choose: Choose): Command {
  const command = describeServer(describeSsh(new Command("results")))
    .summary("Print one row per job, with its parameters and metrics.")
    .description("Print one row per job of a batch, with its parameters and metrics.")
    .argument(
      "[batch]",
      "name or script of the batch; not needed if there is only one; of a queue: train/, train/7, train/3-7",
    )
    .option("--sort <column>", "sort by a metric, a parameter or another column; -NAME: the largest first")
    .option("--csv", "print CSV, for a spreadsheet or a data frame")
    .option("--json", "print one JSON object per job")
    .option("--html", "print a page for a browser, with plots and a timeline");
  withNote(command, "Metrics", METRICS);
  return withExamples(command, [
    ["Print the jobs with the highest acc first", "sshoal results --sort -acc"],
    ["Write a page with plots", "sshoal results --html > results.html"],
  ]).action((batch: string | undefined, raw: RawResults) =>
    choose({
      command: "results",
      options: {
        ...resolveSsh(raw),
        server: askedServer(raw),
        batch: batch ?? null,
        format: resolveFormat(raw),
        sort: raw.sort === undefined ? null : resolveSort(raw.sort),
      },
    }),
  );
}

const METRICS =
  'a job leaves metrics by printing a line such as "sshoal: acc=0.91 loss=0.2", a JSON object as the last line of its output, or a file metrics.json.';

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
  const command = describeServer(describeSsh(describeJobs(new Command("logs"))))
    .summary("Print the output of jobs.")
    .description(
      "Print the output of jobs so far, from this disk or from their machines: stdout, then stderr.",
    )
    .option("-f, --follow", "keep printing until the jobs end: lines of both as they come")
    .option("--out", "print only stdout")
    .option("--err", "print only stderr")
    .addOption(lineCountOption("--tail <n>", "begin with the last n lines of each"))
    .option("--json", "print one JSON object per line of output");
  return withExamples(command, [
    ["Print the output of job 7", "sshoal logs 7"],
    ["Follow all running jobs, from their last 10 lines on", "sshoal logs -f --tail 10 --state running"],
    ["Print what failed jobs of a batch wrote to stderr", "sshoal logs train.sh --state failed --err"],
  ]).action((words: string[], raw: RawLogs) =>
    choose({
      command: "logs",
      options: {
        ...resolveSsh(raw),
        server: askedServer(raw),
        jobs: requireJobs(chosenJobs(words, raw), "sshoal logs", "failed"),
        streams: raw.out === raw.err ? ["out", "err"] : raw.err ? ["err"] : ["out"],
        follows: raw.follow ?? false,
        tail: raw.tail ?? null,
        isJson: raw.json ?? false,
      },
    }),
  );
}

interface RawLogs extends RawServer, RawJobs {
  readonly follow?: true;
  readonly out?: true;
  readonly err?: true;
  readonly tail?: number;
  readonly json?: true;
}

function describeClean(choose: Choose): Command {
  const command = new Command("clean")
    .summary("List what sshoal left on machines, and remove what is not needed.")
    .description(
      "List the files that sshoal left on machines, and remove those that are not needed any more.",
    )
    .argument("[batches...]", "remove only these batches, including results that are not collected");
  describeChoice(command, "default: the machines of this directory's batches");
  describeSsh(command)
    .option("--dry-run", "list the files, and remove nothing")
    .option("--here", "list what sshoal keeps on this computer instead, and remove what is of no use")
    .addOption(maxOldOption("keep at most this many earlier results of each job, or all; needs --here"))
    .option("--json", "print one JSON object per batch and copied tree, or per line of the table of --here");
  return withExamples(command, [
    ["List what is on the machines of this directory's batches", "sshoal clean --dry-run"],
    ["Remove what is not needed any more from two machines", "sshoal clean --machines gpu1 gpu2"],
    ["Remove a batch with results that are not collected", "sshoal clean train.sh"],
    ["List what is kept on this computer", "sshoal clean --here --dry-run"],
    ["Remove all but the last two earlier results of each job", "sshoal clean --here --max-old 2"],
  ]).action((batches: string[], raw: RawClean, command: Command) => {
    if (raw.here) return choose({ command: "clean-here", options: resolveHere(batches, raw, command) });
    refuseWithoutHere(command);
    return choose({
      command: "clean",
      options: {
        ...resolveChoice(raw),
        ...resolveSsh(raw),
        batches,
        isDryRun: raw.dryRun ?? false,
        isJson: raw.json ?? false,
      },
    });
  });
}
