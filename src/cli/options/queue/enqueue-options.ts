// What `sshoal enqueue` can be asked for.

import { Command } from "commander";
import { UserError } from "../../../errors.js";
import { withExamples, withNote } from "../../help/examples.js";
import { typedIn } from "../typed-values.js";
import type { EnqueueReading } from "./enqueue-words.js";
import type { RawJob } from "./job-ask.js";
import { describeJobTerms, describeQueued, saidIn } from "./job-terms-options.js";
import {
  type AskedServer,
  askedServer,
  describeServer,
  type RawServer,
  type WithServer,
} from "./server-options.js";

export interface EnqueueInvocation {
  readonly command: "enqueue";
  readonly options: EnqueueOptions;
}

/** The first word may be a queue or the beginning of the command: only the service knows. */
export interface OpenEnqueueInvocation {
  readonly command: "enqueue-open";
  readonly first: string;
  readonly isJson: boolean;
  /** Which service to ask, by what the first word is. */
  readonly servers: { readonly ifQueue: AskedServer; readonly ifCommand: AskedServer };
  /** Null: it has been answered, as `--help` is. */
  readonly read: (isQueue: boolean) => EnqueueOptions | null;
}

export interface EnqueueOptions extends WithServer {
  /** Null: the default queue. */
  readonly queue: string | null;
  /** At least one word. */
  readonly words: readonly string[];
  /** A single word is not the name of a file. */
  readonly isMarked: boolean;
  /** Without defaults; also what configuration files say. */
  readonly said: Partial<RawJob>;
  readonly typed: Partial<RawJob>;
  readonly freezes: boolean;
  /** Until the jobs have ended. */
  readonly waits: boolean;
  readonly tees: boolean;
  readonly isJson: boolean;
}

interface RawEnqueue extends RawJob, RawServer {
  readonly freeze?: true;
  readonly wait?: true;
}

const WORDS =
  "one word after -- is a line for the shell; several are a program and its arguments. Without -- a single word may also be a file, and the command may follow without it. #@ lines set options of jobs in files and on stdin.";

const EXIT_CODES =
  "0 enqueued; with --wait, that of the job, or 1 if one of several did not succeed. 2 bad usage, input or needs.";

/** `reading`: the words of the line, which commander does not get; null: help is asked for. */
export function describeEnqueue(
  reading: EnqueueReading | null,
  choose: (invocation: EnqueueInvocation) => void,
): Command {
  const command = new Command("enqueue")
    .summary("Add a job to a queue of the service.")
    .description("Add jobs to a queue of the service, and print the name of each: QUEUE/ID.")
    .argument("[queue]", "name of the queue (default: default)")
    .argument("[command...]", "command; or a batch file; or - for jobs from stdin, one per line");
  describeQueued(command).option("--name <name>", "name the job, for --after and other commands");
  describeJobTerms(command)
    .option("--wait", "wait until the job has ended, and exit with its code; Ctrl-C ends only the waiting")
    .option("--tee", "print the output of the job as it comes, and wait as --wait does")
    .option("--json", "print one JSON object per job");
  describeServer(command);
  withNote(command, "Words", WORDS);
  withNote(command, "Exit codes", EXIT_CODES);
  return withExamples(command, [
    ["Run a program when a core is free", "sshoal enqueue -- python train.py --lr 0.1"],
    ["Run a line of the shell on half a card", `sshoal enqueue train --require '{gpu: 0.5}' -- 'cd a; ./b'`],
    ["Add the jobs of a batch file", "sshoal enqueue train jobs.sh"],
    ["Add one job per line of stdin", "sshoal enqueue train - < jobs.txt"],
    ["Run a job after two others, and wait for it", "sshoal enqueue train --after 3,4 --wait -- ./report"],
  ]).action((_queue: string | undefined, _words: string[], raw: RawEnqueue) => {
    const { queue = null, command: words = [], isMarked = false } = reading ?? {};
    if (words.length === 0)
      throw new UserError("which command?", { hint: "sshoal enqueue -- python train.py" });
    const { freeze, tee, wait, json, ...job } = raw;
    choose({
      command: "enqueue",
      options: {
        queue,
        words,
        isMarked,
        said: saidIn(job, command),
        typed: typedIn<RawJob>(job, command),
        server: askedServer(raw),
        freezes: freeze ?? false,
        waits: (wait ?? false) || (tee ?? false),
        tees: tee ?? false,
        isJson: json ?? false,
      },
    });
  });
}
