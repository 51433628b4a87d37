// What `sshoal join` can be asked for.

import { hostname } from "node:os";
import { Command, Option } from "commander";
import { UserError } from "../../../errors.js";
import { type AskedCapacity, parseCapacity } from "../../../input/queue/parse-capacity.js";
import { type Capacities, DEFAULT_QUEUE } from "../../../model/queue.js";
import { withExamples, withNote } from "../../help/examples.js";
import { askedServer, describeServer, type RawServer, type WithServer } from "./server-options.js";

export interface JoinInvocation {
  readonly command: "join";
  readonly options: JoinOptions;
}

export interface JoinOptions extends WithServer {
  /** The name of this machine in the service. */
  readonly name: string;
  readonly queues: readonly string[];
  /** Null: what the queues declare. */
  readonly capacity: Capacities | null;
  readonly notes: readonly string[];
  readonly installs: boolean;
  readonly isJson: boolean;
}

interface RawJoin extends RawServer {
  readonly queue?: string[];
  readonly name?: string;
  readonly capacity?: AskedCapacity;
  readonly install?: true;
  readonly json?: true;
}

const EXIT_CODES =
  "0 left with Ctrl-C or TERM; 1 the service could not be reached; 2 it refused, or bad usage.";
const TRUST =
  "who can add jobs to the queues can run commands on this machine, with all rights of this account.";

export function describeJoin(choose: (invocation: JoinInvocation) => void): Command {
  const command = new Command("join")
    .summary("Give this machine to a queue service that cannot reach it.")
    .description(
      "Give this machine to queues of a service that cannot reach it, by one outgoing connection. No sshd is needed here. A lost connection is made again. Ctrl-C leaves: running jobs run on.",
    )
    .argument("[server]", "where the service is: user@host, or tcp://host:port (default: this computer)")
    .option("--queue <queue...>", `take jobs of these queues (default: ${DEFAULT_QUEUE})`)
    .option("--name <name>", "name this machine in the service (default: its host name)")
    .addOption(
      new Option("--capacity <amounts>", "declare what this machine has, as for a queue").argParser((text) =>
        parseCapacity(text),
      ),
    )
    .option("--install", "write a unit for systemd of this account, and print what to type")
    .option("--json", "print one JSON object per line");
  describeServer(command);
  withNote(command, "Who can use it", TRUST);
  withNote(command, "Exit codes", EXIT_CODES);
  return withExamples(command, [
    ["Take jobs of the service of ada on lab", "sshoal join ada@lab"],
    ["Take jobs of two queues, under another name", "sshoal join ada@lab --queue train eval --name box2"],
    ["Do so at each start of this machine", "sshoal join ada@lab --install"],
  ]).action((server: string | undefined, raw: RawJoin) => {
    const asked = askedServer(raw);
    if (server !== undefined && asked.typed !== null)
      throw new UserError("the service is named twice", { hint: `sshoal join ${server}` });
    choose({
      command: "join",
      options: {
        server: { ...asked, typed: server ?? asked.typed },
        name: readName(raw.name),
        queues: [...new Set(raw.queue ?? [DEFAULT_QUEUE])],
        capacity: raw.capacity?.capacity ?? null,
        notes: raw.capacity?.notes ?? [],
        installs: raw.install ?? false,
        isJson: raw.json ?? false,
      },
    });
  });
}

export function readName(typed: string | undefined): string {
  if (typed === undefined)
    return hostname()
      .replace(/[^\w.-]/g, "-")
      .slice(0, MOST_LETTERS);
  if (/^[A-Za-z0-9][\w.-]*$/.test(typed) && typed.length <= MOST_LETTERS) return typed;
  throw new UserError(`--name takes letters, digits, -, _ and ., got ${JSON.stringify(typed)}`, {
    hint: "for example --name box2",
  });
}

const MOST_LETTERS = 63;
