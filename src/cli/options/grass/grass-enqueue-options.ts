// What `grass enqueue` can be asked for.

import { Command, Option } from "commander";
import { UserError } from "../../../errors.js";
import { type AskedNeed, parseNeed } from "../../../input/need/parse-need.js";
import { withExamples, withNote } from "../../help/examples.js";
import { gather } from "../option-values.js";
import type { EnqueueReading } from "../queue/enqueue-words.js";
import type { RawJob } from "../queue/job-ask.js";
import type { AskedServer } from "../queue/server-options.js";
import { brokerOf, describeBroker, type RawBroker } from "./broker-option.js";

export interface GrassEnqueueInvocation {
  readonly command: "grass-enqueue";
  readonly options: GrassEnqueueOptions;
}

/** The first word may be a queue or the beginning of the command: only the names of queues tell. */
export interface OpenGrassEnqueueInvocation {
  readonly command: "grass-enqueue-open";
  readonly first: string;
  /** Where the queues are. */
  readonly server: AskedServer;
  readonly read: (isQueue: boolean) => GrassEnqueueOptions;
}

export interface GrassEnqueueOptions {
  /** Null: the first word may be one. */
  readonly queue: string | null;
  readonly words: readonly string[];
  readonly said: Partial<RawJob>;
  /** Until the job has ended. */
  readonly waits: boolean;
  readonly server: AskedServer;
}

interface RawEnqueue extends RawBroker {
  readonly json?: AskedNeed;
  readonly require?: AskedNeed;
  readonly cwd?: string;
  readonly env?: string[];
  readonly sync?: true;
}

const WORDS =
  "options end where the command begins, with or without --. Words such as NAME=VALUE before a program are variables. {gpu}, or the name of another resource, becomes what the job got.";
const QUEUES =
  "a command without a queue goes to the queue default. In a queue with a command, the words are added to it.";

/** `reading`: the words of the line; null: help is asked for. */
export function describeGrassEnqueue(
  reading: EnqueueReading | null,
  choose: (invocation: GrassEnqueueInvocation) => void,
): Command {
  const command = new Command("enqueue")
    .summary("Add a job to a queue.")
    .description("Add a job to a queue, and print its name: QUEUE/ID. It runs without a shell.")
    .argument("[queue]", "name of the queue (default: default)")
    .argument("[command...]", "program and its arguments")
    .addOption(needOption("--json"))
    .addOption(needOption("--require"))
    .option("--cwd <directory>", "run it in this directory (default: that of the queue, or this one)")
    .option("-e, --env <NAME=VALUE>", "set a variable for the job; repeatable", gather)
    .option("--sync", "wait until the job has ended, and exit with its code");
  describeBroker(command);
  withNote(command, "Words", WORDS);
  withNote(command, "Queues", QUEUES);
  return withExamples(command, [
    ["Run a program on half a card", "grass enqueue q1 --json '{gpu:0.5}' python train.py lr=0.01"],
    ["Add arguments to a queue's command", "grass enqueue --require '{gpu:1}' cifar100 --lr=0.01"],
  ]).action((_queue: string | undefined, _words: string[], raw: RawEnqueue) => {
    const { queue = null, command: words = [] } = reading ?? {};
    if (queue === null && words.length === 0)
      throw new UserError("which command?", { hint: "grass enqueue q1 -- python train.py" });
    choose({
      command: "grass-enqueue",
      options: { queue, words, said: saidBy(raw), waits: raw.sync ?? false, server: brokerOf(raw) },
    });
  });
}

function needOption(flag: string): Option {
  return new Option(`${flag} <needs>`, "set what the job needs of the queue: '{gpu:0.5, cpu:2}'").argParser(
    (text) => parseNeed(text, flag),
  );
}

/** A job of Grass needs what it asks for, and nothing else: Grass measured nothing. */
function saidBy({ json, require = json, cwd, env }: RawEnqueue): Partial<RawJob> {
  if (json !== undefined && require !== json)
    throw new UserError("--json and --require mean the same", { hint: "leave one of them out" });
  const { cpus = 0, memoryMb = 0, gpuCount } = require ?? { resources: {} };
  return {
    numCpus: cpus,
    memoryRequired: memoryMb,
    ...(gpuCount !== undefined && { gpusPerJob: gpuCount, gpuMemoryRequired: 0 }),
    ...(require !== undefined && { require }),
    ...(cwd !== undefined && { cwd }),
    ...(env !== undefined && { env }),
  };
}
