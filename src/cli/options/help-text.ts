// What the help of `run` and `execute_batch` adds to their options.

import type { Command } from "commander";
import { withExamples, withNote } from "../help/examples.js";

export const EXIT_CODES =
  "0 all jobs succeeded, 1 a job failed, 2 bad usage or input, 3 no usable machine, 70 a bug in sshoal, 130 interrupted.";

/** Of all commands. */
const ROOT_EXIT_CODES = EXIT_CODES.replace("130 ", "124 the --timeout of wait is over, 130 ");

const SIGNALS =
  "INT (Ctrl-C) starts no new jobs, and stops running ones the second time; USR1 pauses, USR2 resumes; TERM and HUP end the client, and jobs go on.";

const DEFAULTS =
  "configuration files set them (see sshoal config). The opposite of an option undoes one: --no-tee, --gpu-required, --no-machines.";

/** `root`: sshoal itself. */
export function describeRootHelp(root: Command): Command {
  withNote(root, "Exit codes", ROOT_EXIT_CODES);
  return withExamples(root, [
    ["Run each command of jobs.sh on two machines", "sshoal run jobs.sh --machines gpu1 gpu2"],
    ["Show how far it is", "sshoal status"],
    ["Print the output of job 7", "sshoal logs 7"],
    ["Print the options of a command", "sshoal run --help"],
  ]);
}

/** `command`: `run` of sshoal, or execute_batch. */
export function describeRunHelp(command: Command): Command {
  const typed = command.name() === "run" ? "sshoal run" : command.name();
  withNote(command, "Defaults", DEFAULTS);
  withNote(command, "Signals", SIGNALS);
  withNote(command, "Exit codes", EXIT_CODES);
  return withExamples(command, [
    ["Run on this machine", `${typed} jobs.sh --no-gpu-required`],
    ["Run commands from stdin on three cards of this machine", `${typed} - --gpus 0,1,2 < commands.txt`],
    ["Run on two machines", `${typed} jobs.sh --machines gpu1 ada@gpu2:2222`],
    ["Show what would run where", `${typed} jobs.sh --machines gpu1.yaml --dry-run`],
  ]);
}
