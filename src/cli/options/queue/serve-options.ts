// What `sshoal serve` can be asked for.

import { resolve } from "node:path";
import { Argument, Command, Option } from "commander";
import { UserError } from "../../../errors.js";
import { type AskedCapacity, parseCapacity } from "../../../input/queue/parse-capacity.js";
import { withExamples, withNote } from "../../help/examples.js";
import { type NetworkPlace, parseNetworkPlace } from "./network-place.js";

export interface ServeInvocation {
  readonly command: "serve";
  readonly options: ServeOptions;
}

const ACTIONS = ["start", "stop", "status", "restart"] as const;

export interface ServeOptions {
  readonly action: (typeof ACTIONS)[number];
  /** Until a signal ends it. */
  readonly isForeground: boolean;
  readonly installs: boolean;
  /** Absolute; null: the usual one. */
  readonly stateDir: string | null;
  /** What queues of this computer share that declare nothing; null: as before. */
  readonly capacity: AskedCapacity | null;
  /** Of jobs that are over; null: no limit. Undefined: not said. */
  readonly limits: { readonly jobs: number | null | undefined; readonly days: number | null | undefined };
  /** False: queues that name no machine do not use this computer. Null: not said. */
  readonly usesThisComputer: boolean | null;
  /** Where it also answers, to those who have its token; null: on its socket alone. */
  readonly listen: NetworkPlace | null;
  readonly isJson: boolean;
}

interface RawServe {
  readonly foreground?: true;
  readonly install?: true;
  readonly state?: string;
  /** Infinity, here and below: all. */
  readonly keepJobs: number;
  readonly keepDays: number;
  readonly capacity?: AskedCapacity;
  readonly local: boolean;
  readonly listen?: NetworkPlace;
  readonly json?: true;
}

const EXIT_CODES =
  "0 it runs, or was stopped; 1 it could not be started, or status: it does not run; 2 bad usage.";

export function describeServe(choose: (invocation: ServeInvocation) => void): Command {
  const command = new Command("serve")
    .summary("Start the queue service of this account.")
    .description(
      "Start the queue service of this account in the background, and print where it listens. If it runs already, only print that.",
    )
    .addArgument(new Argument("[action]", "what to do with it").choices(ACTIONS).default("start"))
    .option("--foreground", "run it here until Ctrl-C or TERM, for tmux and systemd; jobs run on without it")
    .option("--install", "write a unit for systemd of this account, and print what to type")
    .option("--state <directory>", "keep queues, results and logs in this directory")
    .addOption(
      keepOption("--keep-jobs <n>", "keep at most this many jobs of each queue that are over, or all", "all"),
    )
    .addOption(
      keepOption(
        "--keep-days <n>",
        "keep jobs that are over, and their results, for this many days, or all",
        "all",
      ),
    )
    .option("--no-local", "run no jobs on this computer, unless a queue names it as a machine")
    .addOption(
      new Option(
        "--capacity <amounts>",
        "declare what this computer has for queues that declare nothing: '{gpu: 4}'",
      ).argParser((text) => parseCapacity(text)),
    )
    .addOption(
      new Option(
        "--listen <host:port>",
        "answer requests that have the token there as well, over TCP",
      ).argParser((text) =>
        parseNetworkPlace(text, "--listen", "--listen 127.0.0.1:7500, or --listen 0.0.0.0:7500"),
      ),
    )
    .option("--json", "print one JSON object");
  withNote(command, "Exit codes", EXIT_CODES);
  return withExamples(command, [
    ["Start the service", "sshoal serve"],
    ["Show whether it runs", "sshoal serve status"],
    ["Stop it; jobs that run go on", "sshoal serve stop"],
  ]).action((action: ServeOptions["action"], raw: RawServe) => {
    const isStart = action === "start" || action === "restart";
    refuse("--foreground", raw.foreground === true && action !== "start", action);
    refuse("--install", raw.install === true && action !== "start", action);
    const isSaid = (name: string) => command.getOptionValueSource(name) !== "default";
    const isTyped = (name: string) => command.getOptionValueSource(name) === "cli";
    refuse("--no-local", isTyped("local") && !isStart, action);
    refuse("--keep-jobs", isTyped("keepJobs") && !isStart, action);
    refuse("--keep-days", isTyped("keepDays") && !isStart, action);
    refuse("--state", raw.state !== undefined && !isStart, action);
    refuse("--capacity", raw.capacity !== undefined && !isStart, action);
    refuse("--listen", isTyped("listen") && !isStart, action);
    choose({
      command: "serve",
      options: {
        action,
        isForeground: raw.foreground ?? false,
        installs: raw.install ?? false,
        stateDir: raw.state === undefined ? null : resolve(raw.state),
        capacity: raw.capacity ?? null,
        limits: {
          jobs: isSaid("keepJobs") ? finite(raw.keepJobs) : undefined,
          days: isSaid("keepDays") ? finite(raw.keepDays) : undefined,
        },
        usesThisComputer: isSaid("local") ? raw.local : null,
        listen: raw.listen ?? null,
        isJson: raw.json ?? false,
      },
    });
  });
}

function refuse(flag: string, isWrong: boolean, action: string): void {
  if (isWrong)
    throw new UserError(`${flag} has no effect with ${action}`, { hint: `sshoal serve ${action}` });
}

function keepOption(flags: string, description: string, byDefault: number | "all"): Option {
  const [name = ""] = flags.split(" ");
  const read = (text: string) => {
    if (text === "all") return Number.POSITIVE_INFINITY;
    if (/^\d{1,9}$/.test(text)) return Number(text);
    throw new UserError(`${name} takes a number, or all, got "${text}"`, { hint: `for example ${name} 30` });
  };
  return new Option(flags, description).default(read(`${byDefault}`), `${byDefault}`).argParser(read);
}

function finite(most: number): number | null {
  return Number.isFinite(most) ? most : null;
}
