// `grass`: the commands and flags of the tool of that name, on the queue service.

import { Command } from "commander";
import { withExamples, withNote } from "../../help/examples.js";
import type { Environment } from "../option-values.js";
import type { EnqueueReading } from "../queue/enqueue-words.js";
import { brokerOf, rawBrokerIn } from "./broker-option.js";
import {
  describeCreateQueue,
  describeDeleteQueue,
  type GrassCreateInvocation,
  type GrassDeleteInvocation,
} from "./create-queue-options.js";
import { describeDaemon, describeStart, type GrassDaemonInvocation } from "./daemon-options.js";
import {
  describeGrassEnqueue,
  type GrassEnqueueInvocation,
  type OpenGrassEnqueueInvocation,
} from "./grass-enqueue-options.js";
import { describeGrassShow, type GrassShowInvocation } from "./grass-show-options.js";
import { describeGrassStop, type GrassStopInvocation } from "./grass-stop-options.js";
import { readGrassWords } from "./grass-words.js";

export type GrassInvocation =
  | GrassDaemonInvocation
  | GrassCreateInvocation
  | GrassDeleteInvocation
  | GrassEnqueueInvocation
  | OpenGrassEnqueueInvocation
  | GrassShowInvocation
  | GrassStopInvocation;

const JOBS =
  "sshoal logs, why, stop, retry, hold and priority take the jobs of these queues: sshoal logs q1/3.";

type Choose = (invocation: GrassInvocation) => void;

export function describeGrass(env: Environment, reading: EnqueueReading | null, choose: Choose): Command {
  const root = new Command("grass").description(
    "Queue jobs on this computer's resources, with the commands of the tool of that name.",
  );
  const here = { env, cwd: () => process.cwd() };
  const commands = [
    describeStart(choose),
    describeDaemon(choose),
    describeGrassStop(choose),
    describeCreateQueue(reading, here, choose),
    describeDeleteQueue(choose),
    describeGrassEnqueue(reading, choose),
    describeGrassShow(choose),
  ];
  for (const command of commands) root.addCommand(command);
  withNote(root, "Jobs", JOBS);
  return withExamples(root, [
    ["Start the daemon", "grass start"],
    ["Create a queue with four cards", "grass create-queue q1 --json '{gpu:4,cpu:16}'"],
    ["Run a program on half a card", "grass enqueue q1 --json '{gpu:0.5}' -- python train.py"],
    ["Show what runs", "grass show"],
  ]);
}

/** Reads the words of `enqueue` and `create-queue`. `read`: by commander, with the options of one reading. */
export function parseGrass<T extends { readonly command: string }>(
  [command = "", ...words]: readonly string[],
  read: (reading: EnqueueReading) => T | GrassEnqueueInvocation,
): T | GrassEnqueueInvocation | OpenGrassEnqueueInvocation {
  const isEnqueue = command === "enqueue";
  const described = isEnqueue
    ? describeGrassEnqueue(null, () => {})
    : describeCreateQueue(null, { env: {}, cwd: () => "/" }, () => {});
  const { first, asQueue, asCommand } = readGrassWords(words, described);
  const isHelp = asQueue.options.some((word) => word === "-h" || word === "--help");
  if (!isEnqueue || first === null || isHelp) return read(asQueue);
  return {
    command: "grass-enqueue-open",
    first,
    server: brokerOf(rawBrokerIn(asQueue.options)),
    read(isQueue) {
      const chosen = read(isQueue ? asQueue : asCommand);
      if (chosen.command !== "grass-enqueue") throw new Error(`enqueue was read as ${chosen.command}`);
      return (chosen as GrassEnqueueInvocation).options;
    },
  };
}
