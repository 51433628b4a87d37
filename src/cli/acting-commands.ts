// The commands that act on a batch of this directory: read into one resolved value each.

import { Command } from "commander";
import { UserError } from "../errors.js";

export type ActingInvocation =
  | { readonly command: "attach"; readonly options: AttachOptions }
  | { readonly command: "stop"; readonly options: StopOptions }
  | { readonly command: "retry"; readonly options: RetryOptions }
  | { readonly command: "drain"; readonly options: DrainOptions };

interface Showing {
  readonly isJson: boolean;
  readonly isVerbose: boolean;
}

export interface AttachOptions extends Showing {
  /** Null: the one that is here. */
  readonly batch: string | null;
  /** Machine files, for a batch that has no record here. */
  readonly machines: readonly string[];
}

export interface StopOptions extends Showing {
  /** A job's name or a batch's. */
  readonly name: string;
}

export interface RetryOptions extends Showing {
  /** Names of jobs; empty: all that failed. */
  readonly jobs: readonly string[];
}

export interface DrainOptions {
  readonly machine: string;
}

interface RawShowing {
  readonly json?: true;
  readonly verbose?: true;
}

/** `choose` is called with what was asked for. */
export function actingCommands(choose: (invocation: ActingInvocation) => void): Command[] {
  const attach = showing(new Command("attach"))
    .description("Follows a batch: collects what has ended, goes on with what waits.")
    .argument("[batch]", "its name, as status tells it; not needed when there is one here")
    .option("--machines <files...>", "where it runs, when this directory has no record of it")
    .action((batch: string | undefined, raw: RawShowing & { machines?: string[] }) =>
      choose({
        command: "attach",
        options: { ...shown(raw), batch: batch ?? null, machines: raw.machines ?? [] },
      }),
    );
  const stop = showing(new Command("stop"))
    .description("Ends a job, or a whole batch, with all its processes; collects what is there.")
    .argument("<name>", "of a job or a batch")
    .action((name: string, raw: RawShowing) => choose({ command: "stop", options: { ...shown(raw), name } }));
  const retry = showing(new Command("retry"))
    .description("Runs jobs again; what they left before moves aside.")
    .argument("[jobs...]", "their names")
    .option("--failed", "all that failed")
    .action((jobs: string[], raw: RawShowing & { failed?: true }) => {
      if ((jobs.length === 0) !== (raw.failed ?? false)) {
        throw new UserError("which jobs?", { hint: "sshoal retry --failed, or the names of jobs" });
      }
      choose({ command: "retry", options: { ...shown(raw), jobs } });
    });
  const drain = new Command("drain")
    .description("Gives a machine no more jobs; those that run there finish, those that wait go to others.")
    .argument("<machine>", "its name, as status tells it")
    .action((machine: string) => choose({ command: "drain", options: { machine } }));
  return [attach, stop, retry, drain];
}

function showing(command: Command): Command {
  return command.option("--json", "one event a line instead of text").option("--verbose", "say more");
}

function shown(raw: RawShowing): Showing {
  return { isJson: raw.json ?? false, isVerbose: raw.verbose ?? false };
}
