// The commands that act on a batch of this directory: each is read into one resolved value.

import { Command } from "commander";
import type { JobChoice } from "../../batch/name/choose-jobs.js";
import type { MachineChoice } from "../../batch/surroundings.js";
import { UserError } from "../../errors.js";
import { expandGroups } from "../../input/config/expand-groups.js";
import type { Notice } from "../../model/notice.js";
import { withExamples } from "../help/examples.js";
import { chosenJobs, describeJobs, type RawJobs, requireJobs } from "./job-options.js";
import { describeNotify, noticeOf, type RawNotify, resolveNotify } from "./notify-options.js";
import { askedServer, describeServer, type RawServer, type WithServer } from "./queue/server-options.js";
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
  /** Of configuration files, for jobs that begin. */
  readonly variables: Readonly<Record<string, string>>;
  readonly notice: Notice | null;
}

/** Machines are for a batch without a record in this directory. */
export interface AttachOptions extends Showing, MachineChoice {
  /** Null: the only one. */
  readonly batch: string | null;
  /** Only watch what another client does with it. */
  readonly watches: boolean;
}

export interface StopOptions extends SshOptions, WithServer {
  readonly jobs: JobChoice;
  readonly isJson: boolean;
  readonly isVerbose: boolean;
}

export interface RetryOptions extends Showing, WithServer {
  readonly jobs: JobChoice;
}

export interface DrainOptions extends SshOptions, WithServer {
  /** As typed. */
  readonly machine: string;
  readonly isJson: boolean;
  /** It alone, or those of the group. */
  readonly machines: readonly string[];
}

interface RawShowing extends RawSsh, RawNotify {
  readonly json?: true;
  readonly verbose?: true;
  readonly tee?: true;
  readonly variables?: Readonly<Record<string, string>>;
}

/** `choose` is called with the request. */
export function actingCommands(choose: (invocation: ActingInvocation) => void): Command[] {
  const attach = describeAttach(choose);
  const stop = describeServer(describeSsh(describeJobs(new Command("stop"))))
    .summary("Stop jobs with all their processes.")
    .description("Stop jobs or a whole batch with all their processes, and collect their results.")
    .option("--json", "print one JSON object per stopped job")
    .option("-v, --verbose", "print more details")
    .action((words: string[], raw: RawServer & RawJobs & { json?: true; verbose?: true }) => {
      const { json: isJson = false, verbose: isVerbose = false } = raw;
      const jobs = requireJobs(chosenJobs(words, raw), "sshoal stop", "running");
      choose({
        command: "stop",
        options: { ...resolveSsh(raw), server: askedServer(raw), jobs, isJson, isVerbose },
      });
    });
  const retry = describeServer(showing(describeJobs(new Command("retry"))))
    .description("Run jobs again; their earlier results move aside.")
    .option("--failed", "choose failed and lost jobs: the same as --state failed,lost")
    .action((words: string[], raw: RawShowing & RawServer & RawJobs & { failed?: true }) => {
      const state = [...(raw.state ?? []), ...(raw.failed ? (["failed", "lost"] as const) : [])];
      const jobs = requireJobs(chosenJobs(words, { state }), "sshoal retry", "failed");
      choose({ command: "retry", options: { ...shown(raw), server: askedServer(raw), jobs } });
    });
  const drain = describeDrain("drain", choose)
    .summary("Give a machine no more jobs.")
    .description(
      "Give a machine no more jobs: its running jobs finish, its waiting jobs go to other machines.",
    );
  const undrain = describeDrain("undrain", choose).description("Give a drained machine jobs again.");
  withExamples(stop, [
    ["Stop job 7", "sshoal stop 7"],
    ["Stop all running jobs of a batch", "sshoal stop train.sh --state running"],
  ]);
  withExamples(retry, [
    ["Run all failed and lost jobs again", "sshoal retry --failed"],
    ["Run jobs 3 to 7 of a batch again", "sshoal retry train.sh 3-7"],
  ]);
  withExamples(drain, [["Take a machine out of the batches of this directory", "sshoal drain gpu1"]]);
  withExamples(undrain, [["Give the machine jobs again", "sshoal undrain gpu1"]]);
  return [attach, stop, retry, drain, undrain];
}

function describeAttach(choose: Parameters<typeof actingCommands>[0]): Command {
  const command = new Command("attach")
    .summary("Follow a batch, and collect its results.")
    .description("Follow a batch: collect the results of ended jobs, and start waiting ones.")
    .argument("[batch]", "name of the batch, as sshoal status prints it; not needed if there is only one");
  describeChoice(command, "needed only if this directory has no record of the batch");
  showing(command).option(
    "--watch",
    "watch a batch that another client of this computer follows; Ctrl-C ends only the watching",
  );
  return withExamples(command, [
    ["Follow the batch of this directory", "sshoal attach"],
    ["Follow a batch whose record is lost", "sshoal attach train.sh --machines gpu1 gpu2"],
    ["Watch a batch that a client in another terminal follows", "sshoal attach --watch"],
  ]).action((batch: string | undefined, raw: RawShowing & RawChoice & { watch?: true }) => {
    const watches = raw.watch ?? false;
    if (watches && raw.tee)
      throw new UserError("--watch cannot be combined with --tee", { hint: "sshoal logs -f JOB" });
    if (watches && command.getOptionValueSource("notify") === "cli")
      throw new UserError("--watch cannot be combined with --notify", {
        hint: "type the command of the batch again, with --notify",
      });
    choose({
      command: "attach",
      options: { ...shown(raw), ...resolveChoice(raw), batch: batch ?? null, watches },
    });
  });
}

function describeDrain(verb: "drain" | "undrain", choose: Parameters<typeof actingCommands>[0]): Command {
  return describeServer(describeSsh(new Command(verb)))
    .argument("<machine>", "name of the machine, as sshoal status prints it, or @group")
    .option("--json", "print one JSON object per batch")
    .action((machine: string, raw: RawServer & Pick<RawChoice, "groups"> & { json?: true }) => {
      const machines = expandGroups([machine], raw.groups ?? new Map());
      choose({
        command: verb,
        options: {
          ...resolveSsh(raw),
          server: askedServer(raw),
          machine,
          machines,
          isJson: raw.json ?? false,
        },
      });
    });
}

function showing(command: Command): Command {
  describeSsh(command)
    .option("--tee", "print the output of jobs as well, line by line")
    .option("--json", "print one JSON event per line instead of text")
    .option("-v, --verbose", "print more details");
  return describeNotify(command);
}

function shown(raw: RawShowing): Showing {
  const { json = false, verbose = false, tee = false, variables = {} } = raw;
  const notice = noticeOf(resolveNotify(raw));
  return { ...resolveSsh(raw), isJson: json, isVerbose: verbose, tees: tee, variables, notice };
}
