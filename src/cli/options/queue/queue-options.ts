// What `sshoal queue` can be asked for: to create, list, pause, resume and delete queues, and to change their machines.

import { Argument, Command, Option } from "commander";
import { UserError } from "../../../errors.js";
import { expandGroups } from "../../../input/config/expand-groups.js";
import type { Groups } from "../../../input/config/machine-groups.js";
import { type AskedCapacity, parseCapacity } from "../../../input/queue/parse-capacity.js";
import { isQueueName, type QueueSpec } from "../../../model/queue.js";
import { withExamples, withNote } from "../../help/examples.js";
import { countOption, type Environment, toAssignment, variablesOption } from "../option-values.js";
import { askedServer, describeServer, type RawServer, type WithServer } from "./server-options.js";

export interface QueueInvocation {
  readonly command: "queue";
  readonly options: QueueOptions;
}

const ACTIONS = ["create", "list", "pause", "resume", "delete", "add-machine", "remove-machine"] as const;
type Action = (typeof ACTIONS)[number];

export type QueueOptions = QueueAsked & WithServer;

type QueueAsked = { readonly isJson: boolean } & (
  | {
      readonly action: "create";
      /** Its directory is as typed. */
      readonly spec: QueueSpec;
      readonly env: Readonly<Record<string, string>>;
      readonly notes: readonly string[];
    }
  | { readonly action: "list" }
  /** Null: all of them. */
  | { readonly action: "pause" | "resume"; readonly name: string | null }
  | { readonly action: "delete"; readonly name: string; readonly stops: boolean }
  | {
      readonly action: "add-machine" | "remove-machine";
      readonly name: string;
      readonly machines: readonly string[];
    }
);

interface RawQueue extends RawServer {
  readonly capacity?: AskedCapacity;
  readonly machines?: string[];
  readonly groups?: Groups;
  readonly cwd?: string;
  readonly env?: string[];
  readonly envByDefault?: string[];
  readonly maxJobs?: number;
  readonly ahead?: number | "all";
  readonly notify?: string;
  readonly all?: true;
  readonly stop?: true;
  readonly json?: true;
}

/** Which options each action has, besides --json. */
const OPTIONS: Readonly<Record<Action, readonly string[]>> = {
  create: ["capacity", "machines", "cwd", "env", "maxJobs", "ahead", "notify"],
  list: [],
  pause: ["all"],
  resume: ["all"],
  delete: ["stop"],
  "add-machine": [],
  "remove-machine": [],
};

const CREATING =
  "the words after -- come before the words of each command, which then runs without a shell. Without --capacity, jobs share what is measured on the machines; with it, the declared resources count as well.";

export function describeQueue(env: Environment, choose: (invocation: QueueInvocation) => void): Command {
  const command = new Command("queue")
    .summary("Create, list, pause, resume and delete queues.")
    .description("Create, list, pause, resume and delete queues of the service, and change their machines.")
    .addArgument(new Argument("<action>", "what to do").choices(ACTIONS))
    .argument("[name]", "name of the queue")
    .argument("[words...]", "create: words before each command; add-machine, remove-machine: the machines")
    .addOption(
      new Option(
        "--capacity <amounts>",
        "declare what each machine has: '{gpu: 4, cpu: 16}', {RAM: [512]}, {slot: {left: 1}}",
      ).argParser((text) => parseCapacity(text)),
    )
    .option(
      "--machines <machines...>",
      "use these machines: machine files, ssh aliases, user@host:port or @group (default: this machine)",
    )
    .option("--cwd <directory>", "run jobs in this directory (default: where each is enqueued)")
    .addOption(variablesOption())
    .addOption(countOption("--max-jobs <n>", "run at most this many jobs at a time"))
    .addOption(aheadOption())
    .option("--notify <command>", "run this command on this computer when the queue has become empty")
    .option("--all", "pause or resume all queues")
    .option("--stop", "stop jobs that are not over, instead of refusing to delete their queue")
    .option("--json", "print one JSON object per queue");
  describeServer(command);
  withNote(command, "Creating", CREATING);
  return withExamples(command, [
    ["Create a queue for this machine", "sshoal queue create train"],
    ["Create one with four cards and 16 cores", "sshoal queue create train --capacity '{gpu: 4, cpu: 16}'"],
    ["Create one for two machines", "sshoal queue create lab --machines gpu1 gpu2"],
    ["Start no more jobs of any queue", "sshoal queue pause --all"],
    ["Add a machine while jobs run", "sshoal queue add-machine lab gpu3"],
  ]).action((action: Action, name: string | undefined, words: string[], raw: RawQueue) => {
    refuseOthers(action, command);
    choose({
      command: "queue",
      options: { ...resolve({ action, name, words, raw }, env), server: askedServer(raw) },
    });
  });
}

/** Also for names that a configuration file sets for other actions. */
function refuseOthers(action: Action, command: Command): void {
  const allowed = ["json", "server", "tokenFile", "hostKeys", ...OPTIONS[action]];
  const typed = command.options.filter(
    (option) =>
      command.getOptionValueSource(option.attributeName()) === "cli" &&
      !allowed.includes(option.attributeName()),
  );
  const [first] = typed;
  if (first === undefined) return;
  throw new UserError(`${first.long} has no effect with queue ${action}`, { hint: "sshoal queue --help" });
}

interface Typed {
  readonly action: Action;
  readonly name: string | undefined;
  readonly words: readonly string[];
  readonly raw: RawQueue;
}

function resolve({ action, name, words, raw }: Typed, env: Environment): QueueAsked {
  const isJson = raw.json ?? false;
  switch (action) {
    case "create": {
      const said = [...(raw.envByDefault ?? []), ...(raw.env ?? [])];
      const values = Object.fromEntries(said.map((each) => toAssignment(each, env)));
      const spec = specOf(newName(name), words, raw, Object.keys(values));
      return { action, isJson, spec, env: values, notes: raw.capacity?.notes ?? [] };
    }
    case "list":
      refuseWords(action, [name ?? [], words].flat());
      return { action, isJson };
    case "pause":
    case "resume":
      refuseWords(action, raw.all ? [name ?? [], words].flat() : words);
      return { action, isJson, name: raw.all ? null : needName(name, action, "train, or --all") };
    case "delete":
      refuseWords(action, words);
      return { action, isJson, name: needName(name, action), stops: raw.stop ?? false };
    case "add-machine":
    case "remove-machine": {
      const queue = needName(name, action, "train gpu1");
      if (words.length === 0)
        throw new UserError("which machine?", { hint: `sshoal queue ${action} ${queue} gpu1` });
      return { action, isJson, name: queue, machines: expandGroups(words, raw.groups ?? new Map()) };
    }
    default:
      return action satisfies never;
  }
}

function specOf(
  name: string,
  prefix: readonly string[],
  raw: RawQueue,
  envNames: readonly string[],
): QueueSpec {
  return {
    name,
    capacity: raw.capacity?.capacity ?? null,
    machines: expandGroups(raw.machines ?? [], raw.groups ?? new Map()),
    cwd: raw.cwd ?? null,
    prefix,
    envNames,
    maxJobs: raw.maxJobs ?? null,
    ahead: raw.ahead ?? null,
    notify: raw.notify || null,
  };
}

export function newName(name: string | undefined): string {
  const typed = needName(name, "create");
  if (isQueueName(typed)) return typed;
  throw new UserError(
    `${typed} cannot be the name of a queue: a name has letters, digits, _, - and ., and begins with a letter`,
    {
      hint: "for example train",
    },
  );
}

function needName(name: string | undefined, action: Action, example = "train"): string {
  if (name !== undefined) return name;
  throw new UserError("which queue?", { hint: `sshoal queue ${action} ${example}` });
}

function refuseWords(action: Action, words: readonly string[]): void {
  if (words.length === 0) return;
  throw new UserError(`queue ${action}: "${words[0]}" is one word too many`, { hint: "sshoal queue --help" });
}

function aheadOption(): Option {
  return new Option("--ahead <n>", "give each slot this many jobs in advance, or all")
    .default(undefined, "about a second of work")
    .argParser((text): number | "all" => {
      if (text === "all") return text;
      if (/^[1-9]\d{0,4}$/.test(text)) return Number(text);
      throw new UserError(`--ahead takes a number from 1 to 99999, or all, got "${text}"`, {
        hint: "--ahead all for a computer that is often off",
      });
    });
}
