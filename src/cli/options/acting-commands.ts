// The commands that act on a batch of this directory: each is read into one resolved value.

import { Command } from "commander";
import type { JobChoice } from "../../batch/choose-jobs.js";
import type { MachineChoice } from "../../batch/surroundings.js";
import { UserError } from "../../errors.js";
import { chosenJobs, describeJobs, type RawJobs, requireJobs } from "./job-options.js";
import {
  describeChoice,
  describeSsh,
  type RawChoice,
  type RawSsh,
  resolveChoice,
  resolveSsh,
  type SshOptions,
} from "./ssh-options.js";

export type ActingInvocation =
  | { readonly command: "attach"; readonly options: AttachOptions }
  | { readonly command: "stop"; readonly options: StopOptions }
  | { readonly command: "retry"; readonly options: RetryOptions }
  | { readonly command: "drain" | "undrain"; readonly options: DrainOptions };

interface Showing extends SshOptions {
  readonly isJson: boolean;
  readonly isVerbose: boolean;
  readonly tees: boolean;
}

/** Machines are for a batch without a record in this directory. */
export interface AttachOptions extends Showing, MachineChoice {
  /** Null: the only one. */
  readonly batch: string | null;
  /** Only watch what another client does with it. */
  readonly watches: boolean;
}

export interface StopOptions extends SshOptions {
  readonly jobs: JobChoice;
  readonly isJson: boolean;
  readonly isVerbose: boolean;
}

export interface RetryOptions extends Showing {
  readonly jobs: JobChoice;
}

export interface DrainOptions extends SshOptions {
  readonly machine: string;
}

interface RawShowing extends RawSsh {
  readonly json?: true;
  readonly verbose?: true;
  readonly tee?: true;
}

/** `choose` is called with the request. */
export function actingCommands(choose: (invocation: ActingInvocation) => void): Command[] {
  const attach = describeAttach(choose);
  const stop = describeSsh(describeJobs(new Command("stop")))
    .description("Stop jobs or a whole batch with all their processes, and collect their results.")
    .option("--json", "print one JSON object per stopped job")
    .option("-v, --verbose", "print more details")
    .action((words: string[], raw: RawSsh & RawJobs & { json?: true; verbose?: true }) => {
      const { json: isJson = false, verbose: isVerbose = false } = raw;
      const jobs = requireJobs(chosenJobs(words, raw), "sshoal stop");
      choose({ command: "stop", options: { ...resolveSsh(raw), jobs, isJson, isVerbose } });
    });
  const retry = showing(describeJobs(new Command("retry")))
    .description("Run jobs again; their earlier results move aside.")
    .option("--failed", "only failed and lost jobs: the same as --state failed,lost")
    .action((words: string[], raw: RawShowing & RawJobs & { failed?: true }) => {
      const state = [...(raw.state ?? []), ...(raw.failed ? (["failed", "lost"] as const) : [])];
      const jobs = requireJobs(chosenJobs(words, { state }), "sshoal retry");
      choose({ command: "retry", options: { ...shown(raw), jobs } });
    });
  const drain = describeSsh(new Command("drain"))
    .description(
      "Give a machine no more jobs: its running jobs finish, its waiting jobs go to other machines.",
    )
    .argument("<machine>", "name of the machine, as sshoal status prints it")
    .action((machine: string, raw: RawSsh) =>
      choose({ command: "drain", options: { ...resolveSsh(raw), machine } }),
    );
  const undrain = describeSsh(new Command("undrain"))
    .description("Give a drained machine jobs again.")
    .argument("<machine>", "name of the machine, as sshoal status prints it")
    .action((machine: string, raw: RawSsh) =>
      choose({ command: "undrain", options: { ...resolveSsh(raw), machine } }),
    );
  return [attach, stop, retry, drain, undrain];
}

function describeAttach(choose: Parameters<typeof actingCommands>[0]): Command {
  const command = new Command("attach")
    .description("Follow a batch: collect the results of ended jobs, and start waiting ones.")
    .argument("[batch]", "name of the batch, as sshoal status prints it; not needed if there is only one");
  describeChoice(command, "where the batch runs, if this directory has no record of it");
  return showing(command)
    .option(
      "--watch",
      "only watch a batch that another client of this computer follows; Ctrl-C ends the watching",
    )
    .action((batch: string | undefined, raw: RawShowing & RawChoice & { watch?: true }) => {
      const watches = raw.watch ?? false;
      if (watches && raw.tee)
        throw new UserError("--watch cannot be combined with --tee", { hint: "sshoal logs -f JOB" });
      choose({
        command: "attach",
        options: { ...shown(raw), ...resolveChoice(raw), batch: batch ?? null, watches },
      });
    });
}

function showing(command: Command): Command {
  return describeSsh(command)
    .option("--tee", "also print the output of jobs, line by line")
    .option("--json", "print one JSON event per line instead of text")
    .option("-v, --verbose", "print more details");
}

function shown(raw: RawShowing): Showing {
  const { json = false, verbose = false, tee = false } = raw;
  return { ...resolveSsh(raw), isJson: json, isVerbose: verbose, tees: tee };
}
