// Defines the options of `run`.

import { type Command, Option } from "commander";
import { haltOption } from "./halt-option.js";
import { describeRunHelp } from "./help-text.js";
import { describeMachines } from "./machine-options.js";
import { describeNotify } from "./notify-options.js";
import {
  gather,
  maxOldOption,
  maxOutputOption,
  reassignOption,
  retriesOption,
  sizeOption,
  timeoutOption,
  variablesOption,
  wrapOption,
} from "./option-values.js";

export function describeRun(command: Command): Command {
  command
    .summary("Run each command of a script as a job.")
    .description(
      "Run each command of a script as a job on free slots of your machines; results come to job_results/.",
    )
    .argument("[script]", "file with one job per command, in bash syntax; - reads stdin as it comes");
  describeRunOptions(command)
    .option("--follow <file>", "run jobs as they are appended to this file, until Ctrl-C")
    .option("--kabuki-commands", "read a script of execute_remote commands without --machine");
  return describeRunHelp(command);
}

/** All options except those that choose the jobs. */
export function describeRunOptions(command: Command): Command {
  describeMachines(command)
    .option("--limit-memory", "end a job that uses more than --memory-required, where systemd can do that")
    .option(
      "--copy-forward [paths...]",
      "copy these files to the machines; without paths, none (default: ./, or none if jobs run on this machine)",
    )
    .option(
      "--copy-backwards [paths...]",
      "collect results from these directories of a job's copy; without paths, none (default: ./)",
    )
    .option("--copy-unchanged", "collect inputs that the job did not change as well")
    .option(
      "--exclude <pattern>",
      "skip what matches in both directions: '*.ckpt', runs/, /data; as in .gitignore; repeatable",
      gather,
    )
    .addOption(
      sizeOption("--max-send <size>", "exit rather than send more than this to a machine: 500MB, 2GB"),
    )
    .option(
      "--keep-dir",
      "keep the directory of a job on its machine until the job succeeds, so that retries resume in it",
    )
    .addOption(variablesOption())
    .addOption(wrapOption())
    .addOption(timeoutOption())
    .addOption(retriesOption())
    .option("--retry-on-failure", "retry jobs that fail as well")
    .option("--retry-on-oom", "run a job that runs out of memory once more, with more memory or a card alone")
    .option("--retry-failed", "run failed jobs again; their earlier results move aside")
    .addOption(
      new Option("--rerun <which>", "run ended jobs again; their earlier results move aside")
        .choices(["changed", "failed", "all"])
        .default(undefined, "changed"),
    )
    .option("--keep-changed", "keep the results of each line even if its command has changed")
    .addOption(reassignOption())
    .addOption(haltOption())
    .option("--no-pause", "run all jobs even if the first ones crash at once in the same way")
    .option("--detach", "hand over all jobs and exit; the same command later follows them")
    .option("--merge", "write stderr of a job to the file of its stdout, in exact order")
    .addOption(maxOutputOption())
    .addOption(maxOldOption())
    .option("--tee", "print the output of jobs as well, line by line")
    .option("--dry-run", "print slots and first commands, and run nothing")
    .option("--json", "print one JSON event per line instead of text")
    .option("-v, --verbose", "print more details");
  return describeNotify(command);
}
