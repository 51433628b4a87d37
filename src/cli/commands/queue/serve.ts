// `sshoal serve`: starts, stops and describes the queue service of this account.

import { setTimeout as pause } from "node:timers/promises";
import type { Health } from "../../../api/queue-service.js";
import { ExitCode, UserError } from "../../../errors.js";
import { formatCapacity } from "../../../plan/queue/format-capacity.js";
import { jsonLine } from "../../../report/lines/json-lines.js";
import { isGone } from "../../../run/home/lock.js";
import { connectService, type ServiceClient } from "../../../service/client/service-client.js";
import { socketDoor } from "../../../service/client/socket-door.js";
import { tokenFileIn } from "../../../service/client/token-file.js";
import {
  formatNetworkPlace,
  type NetworkPlace,
  parseNetworkPlace,
} from "../../options/queue/network-place.js";
import type { ServeOptions } from "../../options/queue/serve-options.js";
import { readSurroundings } from "../../read-surroundings.js";
import { onFirstEndingSignals } from "../../terminal/ending-signals.js";
import { note } from "../../terminal/note.js";
import { serviceFile } from "./own-service-file.js";
import { serviceWords, startInBackground } from "./start-service.js";
import { installUnit } from "./systemd-unit.js";

const PATIENCE_MS = 30_000;
const UNENCRYPTED =
  "warning: what travels over this port is not encrypted, so use it only in a network that you trust; sshoal --server user@host goes through ssh";

export async function serve(options: ServeOptions): Promise<ExitCode> {
  const file = serviceFile();
  if (file === null)
    throw new UserError("the directory for the state of sshoal is not safe: another account can change it", {
      hint: "export XDG_STATE_HOME to a directory of your own",
    });
  switch (options.action) {
    case "start":
      return start(options, file);
    case "stop":
      return stop(options, file);
    case "restart": {
      const before = await connectService(socketDoor(file));
      const again = { ...options, ...(before !== null && asBefore(before, options)) };
      before?.close();
      await stopAt(file);
      return start(again, file);
    }
    case "status":
      return status(options, file);
    default:
      return options.action satisfies never;
  }
}

async function start(options: ServeOptions, file: string): Promise<ExitCode> {
  const stateDir = options.stateDir ?? file.replace(/\.json$/, "");
  if (options.installs) return install(stateDir, furtherWords(options));
  for (const each of options.capacity?.notes ?? []) note(each);
  const running = await connectService(socketDoor(file));
  if (running !== null) refuseOther(running, options);
  else if (options.isForeground) return runHere(options);
  const client = running ?? (await startInBackground({ file, stateDir, words: furtherWords(options) }));
  const { listen } = client.service;
  if (running === null && listen !== null && !/^(127\.|localhost:|\[::1\])/.test(listen)) note(UNENCRYPTED);
  return describe(client, options.isJson);
}

/** What was not said stays as it was. */
function asBefore({ service }: ServiceClient, options: ServeOptions): Partial<ServeOptions> {
  const { jobs = service.keepJobs, days = service.keepDays } = options.limits;
  return {
    stateDir: options.stateDir ?? service.state,
    listen: options.listen ?? placeOf(service),
    limits: { jobs, days },
    usesThisComputer: options.usesThisComputer ?? service.usesThisComputer,
  };
}

function refuseOther(running: ServiceClient, options: ServeOptions): void {
  const { stateDir, listen, capacity, limits, usesThisComputer } = options;
  const { state, pid, listen: listens, keepJobs, keepDays } = running.service;
  const refuse = (what: string, words: string) => {
    running.close();
    throw new UserError(`the queue service (process ${pid}) runs already, ${what}`, {
      hint: `sshoal serve restart ${words}`,
    });
  };
  if (stateDir !== null && stateDir !== state) refuse(`with its state in ${state}`, `--state ${stateDir}`);
  if (capacity !== null)
    refuse("and --capacity counts when it starts", `--capacity '${formatCapacity(capacity.capacity)}'`);
  if (limits.jobs !== undefined && limits.jobs !== keepJobs)
    refuse(`with --keep-jobs ${keepJobs ?? "all"}`, `--keep-jobs ${limits.jobs ?? "all"}`);
  if (limits.days !== undefined && limits.days !== keepDays)
    refuse(`with --keep-days ${keepDays ?? "all"}`, `--keep-days ${limits.days ?? "all"}`);
  if (usesThisComputer === false && running.service.usesThisComputer)
    refuse("and uses this computer", "--no-local");
  const asked = listen && formatNetworkPlace(listen);
  if (asked === null || asked === listens || (listen?.port === 0 && listens !== null)) return;
  refuse(`and listens ${listens === null ? "on no port" : `at ${listens}`}`, `--listen ${asked}`);
}

/** Null: it listens on no port. */
function placeOf({ listen: listens }: ServiceClient["service"]): NetworkPlace | null {
  return listens === null ? null : parseNetworkPlace(listens, "--listen", "--listen 127.0.0.1:7500");
}

function furtherWords({ limits, listen, capacity, usesThisComputer }: ServeOptions): string[] {
  return [
    "--keep-jobs",
    `${limits.jobs ?? "all"}`,
    "--keep-days",
    `${limits.days ?? "all"}`,
    ...(capacity === null ? [] : ["--capacity", formatCapacity(capacity.capacity)]),
    ...(listen === null ? [] : ["--listen", formatNetworkPlace(listen)]),
    ...(usesThisComputer === false ? ["--no-local"] : []),
  ];
}

async function runHere(options: ServeOptions): Promise<ExitCode> {
  const { stateDir, listen } = options;
  const limits = { jobs: options.limits.jobs ?? null, days: options.limits.days ?? null };
  const usesThisComputer = options.usesThisComputer ?? true;
  const { startService } = await import("../../../service/run-service.js");
  const surroundings = readSurroundings();
  const capacity = options.capacity?.capacity ?? null;
  const asked = { stateDir, limits, capacity, listen, usesThisComputer };
  const running = await startService({ surroundings, ...asked, onNote: note });
  note(`the queue service listens at ${running.socket} (process ${process.pid})`);
  if (running.network !== null) {
    note(`it also listens at ${running.network.address}; the token is in ${tokenFileIn(running.dir)}`);
    if (!running.network.isLoopback) note(UNENCRYPTED);
  }
  const leaving = new Promise<void>((resolve) => onFirstEndingSignals(resolve));
  await Promise.race([leaving, running.askedToEnd]);
  await running.close();
  return ExitCode.Success;
}

async function stop({ isJson }: ServeOptions, file: string): Promise<ExitCode> {
  const pid = await stopAt(file);
  const text = pid === null ? "the queue service does not run" : `stopped: process ${pid}; its jobs run on`;
  process.stdout.write(`${isJson ? notRunningJson() : text}\n`);
  return ExitCode.Success;
}

/** Returns its process, which is gone; null: none ran. */
async function stopAt(file: string): Promise<number | null> {
  const client = await connectService(socketDoor(file));
  if (client === null) return null;
  const { pid } = client.service;
  const until = Date.now() + PATIENCE_MS;
  // A process that hangs takes the request and never answers.
  await Promise.race([client.post("/v1/shutdown"), pause(PATIENCE_MS)]);
  for (; Date.now() < until; await pause(20)) if (isGone(pid)) return pid;
  throw new UserError(`the queue service (process ${pid}) has not ended after ${PATIENCE_MS / 1000}s`, {
    hint: `kill -9 ${pid}: its jobs run on`,
    exitCode: ExitCode.JobFailed,
  });
}

async function status({ isJson }: ServeOptions, file: string): Promise<ExitCode> {
  const client = await connectService(socketDoor(file));
  if (client !== null) return describe(client, isJson);
  process.stdout.write(isJson ? `${notRunningJson()}\n` : "the queue service does not run: sshoal serve\n");
  return ExitCode.JobFailed;
}

async function describe(client: ServiceClient, isJson: boolean): Promise<ExitCode> {
  const { refuses } = await healthOf(client);
  const { pid, socket, version, state, startedAt, listen } = client.service;
  const about = { pid, socket, version, state, startedAt, listen };
  const text = [
    `the queue service listens at ${socket} (process ${pid}, version ${version})`,
    ...(listen === null ? [] : [`it also listens at ${listen}; the token is in ${tokenFileIn(state)}`]),
    `its state is in ${state}`,
    ...(refuses === null ? [] : [`it accepts no jobs now: ${refuses}`]),
  ].join("\n");
  const json = jsonLine({ v: 1, kind: "service", isRunning: true, ...about, refuses });
  process.stdout.write(`${isJson ? json : text}\n`);
  return ExitCode.Success;
}

async function healthOf(client: ServiceClient): Promise<Health> {
  const health = await Promise.race([client.get<Health>("/v1/health"), pause(PATIENCE_MS, null)]);
  if (health !== null) return health;
  const { pid } = client.service;
  throw new UserError(`the queue service (process ${pid}) does not answer after ${PATIENCE_MS / 1000}s`, {
    hint: `kill -9 ${pid}, then sshoal serve: its jobs run on`,
    exitCode: ExitCode.JobFailed,
  });
}

function notRunningJson(): string {
  return jsonLine({ v: 1, kind: "service", isRunning: false });
}

function install(stateDir: string, options: readonly string[]): ExitCode {
  const command = [process.execPath, ...serviceWords(stateDir, options)];
  process.stdout.write(installUnit("sshoal", { command, description: "Queue service of sshoal" }));
  return ExitCode.Success;
}
