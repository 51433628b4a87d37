// What `sshoal show` can be asked for.

import { Command } from "commander";
import { UserError } from "../../../errors.js";
import type { JobWord } from "../../../model/standing.js";
import { withExamples, withNote } from "../../help/examples.js";
import { stateOption } from "../job-options.js";
import { countOption } from "../option-values.js";
import { askedServer, describeServer, type RawServer, type WithServer } from "./server-options.js";

export interface ShowInvocation {
  readonly command: "show";
  readonly options: ShowOptions;
}

export interface ShowOptions extends WithServer {
  /** Null: all queues. */
  readonly queue: string | null;
  /** Empty: all. */
  readonly states: readonly JobWord[];
  /** Of each state; null: the usual number. */
  readonly limit: number | null;
  readonly isLive: boolean;
  readonly isJson: boolean;
}

interface RawShow extends RawServer {
  readonly state?: readonly JobWord[];
  readonly limit?: number;
  readonly interactive?: true;
  readonly json?: true;
}

const KEYS =
  "arrows, j and k, Page Up and Page Down scroll. i sorts by id, t by time, p by priority, s by state; the same key again restores the order. q leaves.";

export function describeShow(choose: (invocation: ShowInvocation) => void): Command {
  const command = new Command("show")
    .summary("Show the jobs of queues.")
    .description("Show the jobs of a queue: those that run, wait, and ended last, with the reasons.")
    .argument("[queue]", "name of the queue (default: all)")
    .addOption(stateOption())
    .addOption(countOption("--limit <n>", "show at most this many jobs of each state (default: 20)"))
    .option("-i, --interactive", "show it live, until q")
    .option("--json", "print one JSON object per job");
  describeServer(command);
  withNote(command, "Keys", KEYS);
  return withExamples(command, [
    ["Show the jobs of all queues", "sshoal show"],
    ["Watch one queue", "sshoal show train -i"],
    ["Show the last 100 failed jobs", "sshoal show train --state failed --limit 100"],
  ]).action((queue: string | undefined, raw: RawShow) => {
    if (raw.interactive && raw.json)
      throw new UserError("-i cannot be combined with --json", { hint: "leave one of them out" });
    choose({
      command: "show",
      options: {
        server: askedServer(raw),
        queue: queue ?? null,
        states: raw.state ?? [],
        limit: raw.limit ?? null,
        isLive: raw.interactive ?? false,
        isJson: raw.json ?? false,
      },
    });
  });
}
