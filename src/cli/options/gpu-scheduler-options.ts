// `simple_gpu_scheduler`: runs commands from stdin on the cards of --gpus, as the tool of that name does.

import { Command } from "commander";
import { UserError } from "../../errors.js";
import { withExamples, withNote } from "../help/examples.js";
import { describeRunOptions } from "./describe-run.js";
import { EXIT_CODES } from "./help-text.js";
import type { Environment } from "./option-values.js";
import { resolveRunOptions } from "./resolve-run.js";
import type { RawRun, RunOptions } from "./run-options.js";

const EXAMPLES = [
  ["Run the commands of a file on three cards", "simple_gpu_scheduler --gpus 0 1 2 < gpu_commands.txt"],
  [
    "Run commands as they are appended to a queue",
    "tail -f -n 0 gpu.queue | simple_gpu_scheduler --gpus 0,1,2",
  ],
  [
    "Run two commands at a time on card 0, and one on card 1",
    "simple_gpu_scheduler --gpus 0 0 1 < gpu_commands.txt",
  ],
] as const;

export function describeGpuScheduler(env: Environment, choose: (options: RunOptions) => void): Command {
  const command = new Command("simple_gpu_scheduler").description(
    "Run the commands from stdin, one at a time on each GPU.",
  );
  withNote(describeRunOptions(command), "Exit codes", EXIT_CODES);
  return withExamples(command, EXAMPLES).action((raw: RawRun) => {
    if (raw.gpus === undefined) {
      throw new UserError("which GPUs?", { hint: "simple_gpu_scheduler --gpus 0 1 2 < gpu_commands.txt" });
    }
    choose({
      ...resolveRunOptions(raw, env),
      script: "-",
      tees: true,
      pausesOnCrash: false,
      voice: "simple_gpu_scheduler",
    });
  });
}
