// The options of one job of a queue, for `enqueue` and for `sweep --enqueue`.

import { type Command, Option } from "commander";
import { UserError } from "../../../errors.js";
import { HIGHEST_PRIORITY, isPriority } from "../../../model/queue.js";
import { gather, maxOutputOption, timeoutOption, variablesOption, wrapOption } from "../option-values.js";
import { describeNeed } from "../requirement-options.js";
import type { RawJob } from "./job-ask.js";

/** What `enqueue` has, and a batch does not. */
export function describeQueued(command: Command): Command {
  return command
    .addOption(
      priorityOption(
        "--priority <n>",
        `start jobs with a larger number first: -${HIGHEST_PRIORITY} to ${HIGHEST_PRIORITY}`,
      ),
    )
    .option(
      "--after <ids>",
      "start it after these jobs of the queue have succeeded: 3,5-7 or a name; repeatable",
      gather,
    )
    .option("--after-any <ids>", "start it after these jobs have ended in any way; repeatable", gather)
    .option("--after-fail <ids>", "start it only if these jobs have failed; repeatable", gather)
    .option("--cwd <directory>", "run it in this directory (default: that of the queue, or this one)")
    .option("--out <file>", "write stdout and stderr to this file, in exact order; it must not exist")
    .option("--freeze", "run it in a copy of the directory as it is now; always so for other machines")
    .option("--results-here", "put results into job_results/ of the job's directory, not below the service")
    .option("--hold", "keep it waiting until sshoal release");
}

/** What jobs of a batch have as well. */
export function describeJobTerms(command: Command): Command {
  return describeNeed(command, 0)
    .option("--limit-memory", "end a job that uses more than --memory-required, where systemd can do that")
    .option("--copy-forward [paths...]", "copy only these files with --freeze (default: ./)")
    .option("--copy-backwards [paths...]", "collect results from these directories of a copy (default: ./)")
    .option("--keep-dir", "keep the copy of a job until the job succeeds, so that retries resume in it")
    .addOption(variablesOption())
    .addOption(wrapOption())
    .addOption(timeoutOption())
    .addOption(retriesOption())
    .option("--merge", "write stderr of a job to the file of its stdout, in exact order")
    .addOption(maxOutputOption())
    .option("--notify <command>", "run this command on this computer when the job has ended or is skipped");
}

/** Only what was said, on the command line or in a configuration file. */
export function saidIn(raw: RawJob, command: Command): Partial<RawJob> {
  const isSaid = (name: string) => !["default", undefined].includes(command.getOptionValueSource(name));
  return Object.fromEntries(Object.entries(raw).filter(([name]) => isSaid(name)));
}

function priorityOption(flags: string, description: string): Option {
  return new Option(flags, description).default(undefined, "0").argParser(toPriority);
}

export function toPriority(text: string): number {
  const priority = /^[+-]?\d{1,3}$/.test(text) ? Number(text) : Number.NaN;
  if (isPriority(priority)) return priority;
  throw new UserError(
    `a priority is a whole number from -${HIGHEST_PRIORITY} to ${HIGHEST_PRIORITY}, got "${text}"`,
    {
      hint: "jobs with a larger number start earlier; 0 is usual",
    },
  );
}

function retriesOption(): Option {
  return new Option("--retries <n>", "run a job again that fails or is lost, at most this often")
    .default(undefined, "0; 2 if its machine is lost")
    .argParser((text) => {
      if (/^\d{1,3}$/.test(text)) return Number(text);
      throw new UserError(`--retries takes a number, got "${text}"`, { hint: "for example --retries 2" });
    });
}
