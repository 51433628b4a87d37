// How jobs are named on a command line, the same for every command.

import { type Command, Option } from "commander";
import type { JobChoice } from "../../batch/name/choose-jobs.js";
import { UserError } from "../../errors.js";
import { suggest } from "../../input/suggest.js";
import { JOB_WORDS, type JobWord } from "../../model/standing.js";

export interface RawJobs {
  readonly state?: readonly JobWord[];
}

/** What names jobs, in the help of every command. */
export const JOBS =
  "numbers (7), ranges (3-7), names, globs ('train.sh.*'), a batch; of a queue: train/7, train/3-7, or the queue";

export function describeJobs(command: Command): Command {
  return command.argument("[jobs...]", JOBS).addOption(stateOption());
}

export function stateOption(): Option {
  return new Option("--state <state>", "choose only jobs in this state; repeatable")
    .choices(JOB_WORDS)
    .argParser((text: string, before: readonly JobWord[] = []) => [
      ...before,
      ...text.split(",").map(toState),
    ]);
}

export function chosenJobs(words: readonly string[], { state = [] }: RawJobs): JobChoice {
  return { words, states: state };
}

/** Throws UserError if nothing was chosen. `example`: the state of jobs that the command is mostly for. */
export function requireJobs(choice: JobChoice, command: string, example: JobWord): JobChoice {
  if (choice.words.length + choice.states.length > 0) return choice;
  throw new UserError("which jobs?", {
    hint: `${command} 7, ${command} train.sh, or ${command} --state ${example}`,
  });
}

function toState(text: string): JobWord {
  const known = JOB_WORDS.find((word) => word === text);
  if (known !== undefined) return known;
  const [nearest] = suggest(text, JOB_WORDS);
  throw new UserError(`--state takes a state of jobs, got "${text}"`, {
    hint: nearest === undefined ? JOB_WORDS.join(", ") : `did you mean ${nearest}?`,
  });
}
