// `execute_remote`: one command on one machine, as in ml-scheduler.

import { Command } from "commander";
import { UserError } from "../../errors.js";
import { withExamples, withNote } from "../help/examples.js";
import { pathsIn } from "./path-words.js";
import { describeSsh, type RawSsh, resolveSsh, type SshOptions } from "./ssh-options.js";

export interface RemoteInvocation {
  readonly command: "remote";
  readonly options: RemoteOptions;
}

export interface RemoteOptions extends SshOptions {
  readonly command: string;
  readonly machine: string;
  /** The ssh configuration file; null: the user's own. */
  readonly configFile: string | null;
  /** Null: a name is generated. */
  readonly jobName: string | null;
  readonly copyForward: readonly string[];
  readonly copyBackwards: readonly string[];
  readonly isJson: boolean;
  readonly isVerbose: boolean;
}

interface RawRemote extends RawSsh {
  readonly machine?: string;
  readonly F?: string;
  readonly FByDefault?: string;
  readonly jobName?: string;
  readonly copyForward?: string[] | true;
  readonly copyBackwards?: string[] | true;
  readonly json?: true;
  readonly verbose?: true;
}

const EXAMPLE = `execute_remote "python train.py" --machine gpu1.yaml`;
const EXAMPLES = [
  ["Run a command on a machine that ssh knows", `execute_remote "nvidia-smi" --machine gpu1`],
  [
    "Send two files, and keep the output in job_results/a.out",
    `execute_remote "sh a.sh" --machine gpu1 --copy-forward a.sh b --job-name a`,
  ],
] as const;

export function describeRemote(choose: (invocation: RemoteInvocation) => void): Command {
  const command = new Command("execute_remote")
    .description("Run one command on one machine, print its output, and exit with its exit code.")
    .argument("[command]", "one word: quote it")
    .option("--machine <machine>", "use this machine: a machine file, an ssh alias or user@host:port")
    .option("-F <file>", "use this ssh configuration instead of ~/.ssh/config");
  describeSsh(describeOneJob(command))
    .option("--json", "print one JSON event per line instead of the output")
    .option("-v, --verbose", "print what happens to the job as well");
  withNote(
    command,
    "Exit codes",
    "that of the command, 2 bad usage or input, 3 no usable machine, 70 a bug in sshoal.",
  );
  return withExamples(command, EXAMPLES).action((typed: string | undefined, raw: RawRemote) =>
    choose({ command: "remote", options: resolveRemote(typed, raw) }),
  );
}

/** The options that a line of a batch may also have. */
export function describeOneJob(command: Command): Command {
  return command
    .option("--job-name <name>", "name its results in job_results/ (default: a new name)")
    .option("--copy-forward [paths...]", "copy these files to the machine (default: none)")
    .option("--copy-backwards [paths...]", "collect these files into job_results/NAME (default: none)");
}

function resolveRemote(command: string | undefined, raw: RawRemote): RemoteOptions {
  if (command === undefined || command.trim() === "") {
    throw new UserError("which command?", { hint: `put it first: ${EXAMPLE}` });
  }
  if (raw.machine === undefined) throw new UserError("which machine?", { hint: EXAMPLE });
  if (raw.machine.includes(",")) {
    throw new UserError("execute_remote runs on one machine", { hint: `name one of them: ${EXAMPLE}` });
  }
  if (raw.machine.startsWith("@")) {
    throw new UserError(`execute_remote takes one machine, no group: ${raw.machine}`, {
      hint: "name a machine of the group; sshoal config lists them",
    });
  }
  return {
    ...resolveSsh(raw),
    command,
    machine: raw.machine,
    configFile: raw.F ?? raw.FByDefault ?? null,
    jobName: raw.jobName ?? null,
    copyForward: pathsIn(raw.copyForward) ?? [],
    copyBackwards: pathsIn(raw.copyBackwards) ?? [],
    isJson: raw.json ?? false,
    isVerbose: raw.verbose ?? false,
  };
}
