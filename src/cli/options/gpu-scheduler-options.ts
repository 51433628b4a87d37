// `simple_gpu_scheduler`: runs commands from stdin on the cards of --gpus, as the tool of that name does.

import { Command } from "commander";
import { UserError } from "../../errors.js";
import type { Environment } from "./option-values.js";
import { describeRunOptions, type RawRun, type RunOptions, resolveRunOptions } from "./run-options.js";

const EXAMPLES = `
Examples:
  simple_gpu_scheduler --gpus 0 1 2 < gpu_commands.txt
  tail -f -n 0 gpu.queue | simple_gpu_scheduler --gpus 0,1,2
  simple_gpu_scheduler --gpus 0 0 1 < gpu_commands.txt   two at a time on 0
`;

export function describeGpuScheduler(env: Environment, choose: (options: RunOptions) => void): Command {
  const command = new Command("simple_gpu_scheduler").description(
    "Run the commands from stdin, one at a time on each GPU.",
  );
  return describeRunOptions(command)
    .addHelpText("after", EXAMPLES)
    .action((raw: RawRun) => {
      if (raw.gpus === undefined) {
        throw new UserError("which GPUs?", { hint: "simple_gpu_scheduler --gpus 0 1 2 < gpu_commands.txt" });
      }
      choose({ ...resolveRunOptions(raw, env), script: "-", tees: true, voice: "simple_gpu_scheduler" });
    });
}
