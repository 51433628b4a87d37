// What `grass start` and `grass daemon` can be asked for.

import { Command, Option } from "commander";
import { UserError } from "../../../errors.js";
import { type AskedCapacity, parseCapacity } from "../../../input/queue/parse-capacity.js";
import { withExamples, withNote } from "../../help/examples.js";
import { type NetworkPlace, parseNetworkPlace } from "../queue/network-place.js";
import type { AskedServer } from "../queue/server-options.js";
import { brokerOf } from "./broker-option.js";

export interface GrassDaemonInvocation {
  readonly command: "grass-daemon";
  readonly options: GrassDaemonOptions;
}

export interface GrassDaemonOptions {
  readonly isForeground: boolean;
  /** `host:port` at which it listens; null: only on its socket. */
  readonly bind: NetworkPlace | null;
  /** The broker that gives it jobs: `host:port` or `user@host`; null: itself. */
  readonly connect: AskedServer | null;
  readonly hasWorker: boolean;
  /** Null: only what is measured. */
  readonly capacity: AskedCapacity | null;
  /** Options that have no effect, and why. */
  readonly notes: readonly string[];
}

interface RawDaemon {
  readonly bind?: NetworkPlace;
  readonly connect?: string;
  readonly broker: boolean;
  readonly worker: boolean;
  readonly capacity?: AskedCapacity;
  readonly cert?: string;
  readonly certPass?: string;
  readonly db?: string;
  readonly tokenFile?: string;
}

const ADDRESSES =
  "HOST:PORT needs a token, in the file that --token-file names or in SSHOAL_TOKEN; USER@HOST goes through ssh, and needs neither a port nor a token.";

const CERT =
  "--cert has no effect: Grass never read the certificate. A token protects a port, and ssh protects USER@HOST";

export function describeStart(choose: (invocation: GrassDaemonInvocation) => void): Command {
  const command = describeDaemonOptions(
    new Command("start").description(
      "Start the daemon in the background. If it runs already, only print that.",
    ),
  ).addOption(
    new Option("--db <database>", "accept this option of Grass; the record is SQLite").choices([
      "Sqlite",
      "Postgres",
    ]),
  );
  return withExamples(command, [
    ["Start it", "grass start"],
    ["Start it with four cards for all queues", "grass start --capacity '{gpu:4}'"],
  ]).action((raw: RawDaemon) => choose(invocation(raw, false)));
}

export function describeDaemon(choose: (invocation: GrassDaemonInvocation) => void): Command {
  const command = describeDaemonOptions(
    new Command("daemon").description("Run the daemon here until Ctrl-C. Jobs run on without it."),
  );
  return withExamples(command, [
    ["Run everything on this computer", "grass daemon"],
    ["Run a broker without jobs of its own", "grass daemon --bind 0.0.0.0:7500 --no-worker"],
    ["Run jobs for a broker", "grass daemon --no-broker --connect ada@my.server.com"],
  ]).action((raw: RawDaemon) => choose(invocation(raw, true)));
}

function describeDaemonOptions(command: Command): Command {
  command
    .addOption(
      new Option("--bind <host:port>", "wait there for workers and commands with a token, too").argParser(
        (text) => parseNetworkPlace(text, "--bind", "--bind 127.0.0.1:7500, or --bind 0.0.0.0:7500"),
      ),
    )
    .option("--connect <address>", "run jobs for this broker: HOST:PORT or USER@HOST")
    .option("--no-worker", "run no jobs on this computer")
    .option("--no-broker", "keep no queues here: run jobs of another broker")
    .addOption(
      new Option(
        "--capacity <amounts>",
        "declare what queues without a capacity share: '{gpu:4, cpu:16}'",
      ).argParser((text) => parseCapacity(text)),
    )
    .option("--token-file <file>", "read the token for the HOST:PORT of --connect from this file")
    .option("--cert <file>", "accept this option of Grass; it has no effect")
    .option("--cert-pass <word>", "accept this option of Grass; it has no effect");
  return withNote(command, "Addresses", ADDRESSES);
}

function invocation(raw: RawDaemon, isForeground: boolean): GrassDaemonInvocation {
  const { bind = null, connect, capacity = null, worker: hasWorker, broker: hasBroker, tokenFile } = raw;
  if (!hasWorker && !hasBroker)
    throw new UserError("--no-worker and --no-broker leave nothing to run", {
      hint: "leave one of them out",
    });
  if (!hasBroker && connect === undefined)
    throw new UserError("--no-broker needs a broker to connect to", {
      hint: "grass daemon --no-broker --connect USER@HOST",
    });
  if (!hasBroker && bind !== null)
    throw new UserError("--bind and --no-broker contradict each other", { hint: "leave one of them out" });
  if (!hasWorker && connect !== undefined)
    throw new UserError("--connect and --no-worker contradict each other", { hint: "leave one of them out" });
  if (hasBroker && connect !== undefined)
    throw new UserError("--connect needs --no-broker: a worker takes its jobs from one broker", {
      hint: `grass daemon --no-broker --connect ${connect}`,
    });
  const asked = connect === undefined ? null : brokerOf({ broker: connect, ...(tokenFile && { tokenFile }) });
  const hasCert = raw.cert !== undefined || raw.certPass !== undefined;
  const notes = [
    ...(hasCert ? [CERT] : []),
    ...(raw.db === undefined ? [] : [`--db has no effect: the record is SQLite`]),
  ];
  return {
    command: "grass-daemon",
    options: { isForeground, bind, connect: asked, hasWorker, capacity, notes },
  };
}
