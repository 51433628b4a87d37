// What `grass show` can be asked for.

import { Command, Option } from "commander";
import { UserError } from "../../../errors.js";
import { withExamples } from "../../help/examples.js";
import type { AskedServer } from "../queue/server-options.js";
import { brokerOf, describeBroker, type RawBroker } from "./broker-option.js";

export interface GrassShowInvocation {
  readonly command: "grass-show";
  readonly options: GrassShowOptions;
}

export interface GrassShowOptions {
  /** Null: all queues. */
  readonly queue: string | null;
  readonly isLive: boolean;
  readonly isJson: boolean;
  readonly server: AskedServer;
}

interface RawShow extends RawBroker {
  readonly queue?: string;
  readonly interactive?: true;
  readonly json?: true;
  readonly table?: true;
}

export function describeGrassShow(choose: (invocation: GrassShowInvocation) => void): Command {
  const command = new Command("show")
    .summary("Show the daemon, workers and jobs.")
    .description("Show the daemon, its workers, and the jobs of queues.")
    .argument("[queue]", "name of the queue (default: all)")
    .addOption(new Option("--queue <queue>", "show this queue only"))
    .option("-i, --interactive", "show it live, until q")
    .option("--table", "print tables, as without options")
    .option("--json", "print one JSON object");
  describeBroker(command);
  return withExamples(command, [
    ["Show everything", "grass show"],
    ["Show one queue", "grass show q1"],
    ["Print everything for a program", "grass show --json"],
  ]).action((word: string | undefined, raw: RawShow) => {
    const { queue = word, interactive, json, table } = raw;
    if (word !== undefined && word !== queue)
      throw new UserError(`${word} and --queue ${queue} name two queues`, { hint: "leave one of them out" });
    const many = Object.entries({ "-i": interactive, "--json": json, "--table": table }).flatMap(
      ([flag, isSet]) => (isSet ? [flag] : []),
    );
    if (many.length > 1)
      throw new UserError(`${many.join(" and ")} cannot be combined`, { hint: "leave one of them out" });
    choose({
      command: "grass-show",
      options: {
        queue: queue ?? null,
        isLive: interactive ?? false,
        isJson: json ?? false,
        server: brokerOf(raw),
      },
    });
  });
}
