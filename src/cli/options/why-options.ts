// What `sshoal why` can be asked for.

import { Command } from "commander";
import { withExamples, withNote } from "../help/examples.js";
import { JOBS } from "./job-options.js";
import { askedServer, describeServer, type RawServer, type WithServer } from "./queue/server-options.js";
import { describeSsh, resolveSsh, type SshOptions } from "./ssh-options.js";

export interface WhyInvocation {
  readonly command: "why";
  readonly options: WhyOptions;
}

export interface WhyOptions extends SshOptions, WithServer {
  /** As typed: jobs, or a batch. Empty: all that wait. */
  readonly words: readonly string[];
  readonly isJson: boolean;
}

const EXIT_CODES = "0 explained, 2 no such job, or bad usage, 3 no machine could be reached.";

export function describeWhy(choose: (invocation: WhyInvocation) => void): Command {
  const command = describeServer(describeSsh(new Command("why")))
    .summary("Explain why jobs wait, machine by machine.")
    .description(
      "Measure the machines of a batch, and explain for each machine why a job does not start there (default: all waiting jobs here).",
    )
    .argument("[jobs...]", JOBS)
    .option("--json", "print one JSON object per job");
  withNote(command, "Exit codes", EXIT_CODES);
  return withExamples(command, [
    ["Explain why job 17 waits", "sshoal why 17"],
    ["Explain all waiting jobs, those with equal needs together", "sshoal why"],
  ]).action((words: string[], raw: RawServer & { json?: true }) =>
    choose({
      command: "why",
      options: { ...resolveSsh(raw), server: askedServer(raw), words, isJson: raw.json ?? false },
    }),
  );
}
