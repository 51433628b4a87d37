// What `sshoal wait` can be asked for.

import { Command } from "commander";
import type { JobChoice } from "../../batch/name/choose-jobs.js";
import { withExamples, withNote } from "../help/examples.js";
import { chosenJobs, describeJobs, type RawJobs } from "./job-options.js";
import { durationOption } from "./option-values.js";
import { askedServer, describeServer, type RawServer, type WithServer } from "./queue/server-options.js";
import { describeSsh, resolveSsh, type SshOptions } from "./ssh-options.js";

export interface WaitInvocation {
  readonly command: "wait";
  readonly options: WaitOptions;
}

export interface WaitOptions extends SshOptions, WithServer {
  /** Without words and states: all batches of this directory. */
  readonly jobs: JobChoice;
  /** Null: for as long as it takes. */
  readonly timeoutSeconds: number | null;
  readonly isJson: boolean;
}

interface RawWait extends RawServer, RawJobs {
  readonly timeout?: number;
  readonly json?: true;
}

const EXIT_CODES =
  "0 all jobs succeeded, 1 a job failed, was stopped, is lost or will not run by itself, 2 bad usage or input, 3 no usable machine, 124 --timeout is over, 130 interrupted. The jobs go on in any case.";

const EXAMPLES = [
  ["Print the results once all jobs of this directory have succeeded", "sshoal wait && sshoal results"],
  ["Wait for a batch, but at most two hours", "sshoal wait train.sh --timeout 2h"],
  ["Wait for five jobs", "sshoal wait 3-7"],
] as const;

export function describeWait(choose: (invocation: WaitInvocation) => void): Command {
  const command = describeServer(describeSsh(describeJobs(new Command("wait"))))
    .summary("Wait until jobs have ended.")
    .description(
      "Wait until jobs have ended, and exit with 0 if all of them succeeded (default: all jobs here).",
    )
    .addOption(
      durationOption("--timeout <duration>", "give up after this time, with exit code 124: 90s, 10m, 2h"),
    )
    .option("--json", "print one JSON object per job at the end");
  withNote(command, "Exit codes", EXIT_CODES);
  return withExamples(command, EXAMPLES).action((words: string[], raw: RawWait) =>
    choose({
      command: "wait",
      options: {
        ...resolveSsh(raw),
        server: askedServer(raw),
        jobs: chosenJobs(words, raw),
        timeoutSeconds: raw.timeout ?? null,
        isJson: raw.json ?? false,
      },
    }),
  );
}
