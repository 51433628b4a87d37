// What `grass create-queue` and `grass delete-queue` can be asked for.

import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { Command, Option } from "commander";
import { UserError } from "../../../errors.js";
import { type AskedCapacity, parseCapacity } from "../../../input/queue/parse-capacity.js";
import type { QueueSpec } from "../../../model/queue.js";
import { withExamples, withNote } from "../../help/examples.js";
import { type Environment, gather, toAssignment } from "../option-values.js";
import type { EnqueueReading } from "../queue/enqueue-words.js";
import { newName } from "../queue/queue-options.js";

export interface GrassCreateInvocation {
  readonly command: "grass-create";
  readonly options: GrassCreateOptions;
}

export interface GrassDeleteInvocation {
  readonly command: "grass-delete";
  readonly name: string;
}

export interface GrassCreateOptions {
  readonly spec: QueueSpec;
  readonly env: Readonly<Record<string, string>>;
  readonly notes: readonly string[];
}

interface RawCreate {
  readonly json?: AskedCapacity;
  readonly capacity?: AskedCapacity;
  readonly file?: string;
  readonly cwd?: string;
  readonly env?: string[];
  readonly unsecure?: true;
}

const WORDS =
  "the words after the name come before the words of each job, which then runs without a shell, where the queue was created. Without them, jobs are whole commands, and run where each is enqueued.";

/** `reading`: the words of the line; null: help is asked for. `cwd`: of this process. */
export function describeCreateQueue(
  reading: EnqueueReading | null,
  { env, cwd }: { readonly env: Environment; readonly cwd: () => string },
  choose: (invocation: GrassCreateInvocation) => void,
): Command {
  const command = new Command("create-queue")
    .summary("Create a queue.")
    .description("Create a queue, with the resources that its jobs share. A queue survives a restart.")
    .argument("[name]", "name of the queue")
    .argument("[command...]", "words that begin the command of each job")
    .addOption(capacityOption("--json"))
    .addOption(capacityOption("--capacity"))
    .option("--file <file>", "read the capacity from this JSON5 file")
    .option("--cwd <directory>", "run jobs in this directory")
    .option("-e, --env <NAME=VALUE>", "set a variable for jobs; repeatable", gather)
    .option("--unsecure", "let jobs be any command, as without a command");
  withNote(command, "Words", WORDS);
  return withExamples(command, [
    ["Create a queue with four cards", "grass create-queue q1 --json '{gpu:4,cpu:16}'"],
    [
      "Create one whose jobs all begin alike",
      "grass create-queue --capacity '{gpu:4}' cifar100 python train.py",
    ],
  ]).action((_name: string | undefined, _words: string[], raw: RawCreate) => {
    const { queue, command: prefix = [] } = reading ?? {};
    if (queue === undefined || queue === null)
      throw new UserError("which queue?", { hint: "grass create-queue q1 --json '{gpu:4,cpu:16}'" });
    const asked = askedCapacity(raw);
    const values = Object.fromEntries((raw.env ?? []).map((each) => toAssignment(each, env)));
    const isPlaced = raw.cwd !== undefined || prefix.length > 0 || raw.unsecure === true;
    choose({
      command: "grass-create",
      options: {
        spec: {
          name: newName(queue),
          capacity: asked?.capacity ?? null,
          machines: [],
          cwd: isPlaced ? resolve(cwd(), raw.cwd ?? ".") : null,
          prefix,
          envNames: Object.keys(values),
          maxJobs: null,
          ahead: null,
          notify: null,
        },
        env: values,
        notes: asked?.notes ?? [],
      },
    });
  });
}

function capacityOption(flag: string): Option {
  return new Option(
    `${flag} <amounts>`,
    "declare what its jobs share: '{gpu:4, cpu:16}', {RAM:[512]}, {gpu:{left:1}}",
  ).argParser((text) => parseCapacity(text, flag));
}

function askedCapacity({ json, capacity, file }: RawCreate): AskedCapacity | null {
  const given = Object.entries({ "--json": json, "--capacity": capacity, "--file": file }).flatMap(
    ([flag, value]) => (value === undefined ? [] : [flag]),
  );
  if (given.length > 1)
    throw new UserError(`${given.join(" and ")} both say the capacity`, {
      hint: `leave out ${given.at(-1)}`,
    });
  return (
    json ?? capacity ?? (file === undefined ? null : parseCapacity(readCapacity(file), `--file ${file}`))
  );
}

function readCapacity(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch (cause) {
    throw new UserError(`--file ${file} cannot be read: ${cause instanceof Error ? cause.message : cause}`, {
      hint: `write the capacity into it, such as {gpu: 4}, or use --json '{gpu:4}'`,
      cause,
    });
  }
}

export function describeDeleteQueue(choose: (invocation: GrassDeleteInvocation) => void): Command {
  const command = new Command("delete-queue")
    .description("Delete a queue, with its jobs. It is refused while jobs wait or run.")
    .argument("<queue>", "name of the queue");
  return withExamples(command, [["Delete a queue", "grass delete-queue q1"]]).action((name: string) =>
    choose({ command: "grass-delete", name }),
  );
}
