// The commands that only jobs of queues know: remove, priority, hold, release.

import { Argument, Command } from "commander";
import type { JobChoice } from "../../../batch/name/choose-jobs.js";
import { withExamples } from "../../help/examples.js";
import { chosenJobs, type RawJobs, requireJobs, stateOption } from "../job-options.js";
import { toPriority } from "./job-terms-options.js";
import { askedServer, describeServer, type RawServer, type WithServer } from "./server-options.js";

export interface QueuedJobInvocation {
  readonly command: "queued-jobs";
  readonly options: QueuedJobOptions;
}

interface QueuedJobOptions extends WithServer {
  readonly verb: "remove" | "priority" | "hold" | "release";
  readonly jobs: JobChoice;
  /** Of the verb `priority` alone. */
  readonly priority: number | null;
  readonly isJson: boolean;
}

interface RawQueuedJobs extends RawJobs, RawServer {
  readonly json?: true;
}

const WORDS = "QUEUE/ID, QUEUE/3-7, QUEUE/NAME, a glob, or a queue; a number alone: of the queue default";

export function queuedJobCommands(choose: (invocation: QueuedJobInvocation) => void): Command[] {
  const remove = actOn("remove", new Command("remove"), choose).description(
    "Remove jobs that wait or are over from their queue. Their results stay.",
  );
  const hold = actOn("hold", new Command("hold"), choose).description(
    "Keep waiting jobs from starting until they are released.",
  );
  const release = actOn("release", new Command("release"), choose).description("Let held jobs start again.");
  const priority = new Command("priority")
    .addArgument(new Argument("<n>", "-499 to 499; 0 is usual").argParser(toPriority))
    .description("Set the priority of waiting jobs: those with a larger number start first.");
  describeJobs(priority).action((n: number, words: string[], raw: RawQueuedJobs) =>
    choose({
      command: "queued-jobs",
      options: { ...chosen("priority", words, raw, "sshoal priority 10"), priority: n },
    }),
  );
  withExamples(remove, [["Remove the failed jobs of a queue", "sshoal remove train --state failed"]]);
  withExamples(hold, [["Hold two jobs", "sshoal hold train/3 train/5"]]);
  withExamples(release, [["Release them", "sshoal release train/3 train/5"]]);
  withExamples(priority, [["Let a job start next", "sshoal priority 10 train/7"]]);
  return [remove, priority, hold, release];
}

type Choose = Parameters<typeof queuedJobCommands>[0];

function actOn(verb: "remove" | "hold" | "release", command: Command, choose: Choose): Command {
  return describeJobs(command).action((words: string[], raw: RawQueuedJobs) =>
    choose({
      command: "queued-jobs",
      options: { ...chosen(verb, words, raw, `sshoal ${verb}`), priority: null },
    }),
  );
}

function describeJobs(command: Command): Command {
  return describeServer(
    command
      .argument("[jobs...]", WORDS)
      .addOption(stateOption())
      .option("--json", "print one JSON object per job"),
  );
}

function chosen(
  verb: QueuedJobOptions["verb"],
  words: readonly string[],
  raw: RawQueuedJobs,
  typed: string,
): Omit<QueuedJobOptions, "priority"> {
  return {
    verb,
    server: askedServer(raw),
    jobs: requireJobs(chosenJobs(words, raw), typed, "waiting"),
    isJson: raw.json ?? false,
  };
}
