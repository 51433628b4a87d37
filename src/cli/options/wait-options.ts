// What `sshoal wait` can be asked for.

import { Command } from "commander";
import type { JobChoice } from "../../batch/choose-jobs.js";
import { chosenJobs, describeJobs, type RawJobs } from "./job-options.js";
import { durationOption } from "./option-values.js";
import { describeSsh, type RawSsh, resolveSsh, type SshOptions } from "./ssh-options.js";

export interface WaitInvocation {
  readonly command: "wait";
  readonly options: WaitOptions;
}

export interface WaitOptions extends SshOptions {
  /** Without words and states: all batches of this directory. */
  readonly jobs: JobChoice;
  /** Null: for as long as it takes. */
  readonly timeoutSeconds: number | null;
  readonly isJson: boolean;
}

interface RawWait extends RawSsh, RawJobs {
  readonly timeout?: number;
  readonly json?: true;
}

const EXIT_CODES = `
Exit codes:
  0    all jobs succeeded
  1    a job failed, was stopped, is lost, or will not run by itself
  124  --timeout is over; the jobs go on
  130  Ctrl-C; the jobs go on

Examples:
  sshoal wait && sshoal results
  sshoal wait train.sh --timeout 2h
  sshoal wait 3-7
`;

export function describeWait(choose: (invocation: WaitInvocation) => void): Command {
  return describeSsh(describeJobs(new Command("wait")))
    .description(
      "Wait until jobs have ended, and exit with 0 if all of them succeeded (default: all jobs here).",
    )
    .addOption(
      durationOption("--timeout <duration>", "give up after this time, with exit code 124: 90s, 10m, 2h"),
    )
    .option("--json", "print one JSON object per job at the end")
    .addHelpText("after", EXIT_CODES)
    .action((words: string[], raw: RawWait) =>
      choose({
        command: "wait",
        options: {
          ...resolveSsh(raw),
          jobs: chosenJobs(words, raw),
          timeoutSeconds: raw.timeout ?? null,
          isJson: raw.json ?? false,
        },
      }),
    );
}
