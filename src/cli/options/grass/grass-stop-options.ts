// What `grass stop` can be asked for.

import { Command } from "commander";
import { UserError } from "../../../errors.js";
import { withExamples } from "../../help/examples.js";

export interface GrassStopInvocation {
  readonly command: "grass-stop";
}

interface RawStop {
  readonly queue?: string;
  readonly status?: string;
  readonly confirmed?: true;
}

export function describeGrassStop(choose: (invocation: GrassStopInvocation) => void): Command {
  const command = new Command("stop")
    .description("Stop the daemon. Its jobs run on, and the next start continues with them.")
    .option("--queue <queue>", "print how to stop the jobs of a queue, and stop nothing")
    .option("--status <word>", "print how to stop the jobs in a state, and stop nothing")
    .option("--confirmed", "accept this option of Grass; it has no effect");
  return withExamples(command, [["Stop the daemon", "grass stop"]]).action(({ queue, status }: RawStop) => {
    if (queue !== undefined || status !== undefined)
      throw new UserError("grass stop ends the daemon, not the jobs of a queue", {
        hint: `sshoal stop ${queue ?? "q1"}${status === undefined ? "" : " --state waiting"}`,
      });
    choose({ command: "grass-stop" });
  });
}
