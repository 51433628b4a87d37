// `sshoal join`: gives this machine to queues of a service, until Ctrl-C. A lost connection is made again.

import { randomBytes } from "node:crypto";
import path from "node:path";
import type { Duplex } from "node:stream";
import { setTimeout as sleep } from "node:timers/promises";
import { JOIN_PROTOCOL } from "../../../api/queue-service.js";
import { ExitCode, UserError } from "../../../errors.js";
import { VERSION } from "../../../model/version.js";
import { jsonLine } from "../../../report/lines/json-lines.js";
import { dialIn } from "../../../service/client/dial-in.js";
import { ServiceError } from "../../../service/client/service-answer.js";
import { type Dialled, type Door, LostConnection } from "../../../service/client/service-door.js";
import { orAfter } from "../../../transport/aborted.js";
import { makeOneTimeKey } from "../../../transport/ssh2/one-time-key.js";
import { type ServedShell, serveShell } from "../../../transport/ssh2/shell-server.js";
import type { JoinOptions } from "../../options/queue/join-options.js";
import { onFirstEndingSignals } from "../../terminal/ending-signals.js";
import { note } from "../../terminal/note.js";
import { joinedShell } from "./joined-shell.js";
import { needDoor, noServiceError, serverWord } from "./service-here.js";
import { installUnit } from "./systemd-unit.js";

const FIRST_PAUSE_MS = 250;
const LONGEST_PAUSE_MS = 2000;
const DIAL_WITHIN_MS = 20_000;
/** After so long another connection is tried beside the one that is being made. */
const SLOW_MS = 1500;
/** The service may first ask a machine of the same name whether it is there. */
const ANSWER_WITHIN_MS = 15_000;

export async function join(options: JoinOptions): Promise<ExitCode> {
  for (const each of options.notes) note(each);
  if (options.installs) return install(options);
  const door = await needDoor(options.server);
  const leaving = new AbortController();
  onFirstEndingSignals(() => leaving.abort());
  const report = reporter(options, door);
  const me = { ...options, process: randomBytes(16).toString("hex") };
  try {
    let shell = await dial(door, me, leaving.signal).catch((error: unknown) => {
      throw error instanceof LostConnection ? noAnswer(door, error) : error;
    });
    if (shell === null) throw door.isHere ? noServerError() : noServiceError(door);
    report("joined");
    while (!leaving.signal.aborted) {
      const reason = await Promise.race([shell.gone, aborted(leaving.signal)]);
      if (reason === null) break;
      report("lost", reason);
      shell = await dialAgain(door, me, leaving.signal);
      if (!leaving.signal.aborted) report("back");
    }
    shell.close();
  } catch (error) {
    if (!leaving.signal.aborted) throw error;
  } finally {
    door.close();
  }
  report("left");
  return ExitCode.Success;
}

/** Without a word, the service of this computer is meant. */
function noServerError(): UserError {
  return new UserError("the queue service does not run on this computer, and no other one is named", {
    hint: "sshoal join user@host, or sshoal join tcp://host:port",
  });
}

export type Joining = Pick<JoinOptions, "name" | "queues" | "capacity"> & { readonly process: string };

/** Null: no service runs there. Throws LostConnection, or UserError for what a repeat cannot change. */
export async function dial(door: Door, me: Joining, leaving: AbortSignal): Promise<ServedShell | null> {
  const dialled = await knock(door, leaving);
  return dialled && joinOver(dialled.socket, door, me, leaving);
}

/** Throws as dial does. */
async function knock(door: Door, leaving: AbortSignal): Promise<Dialled | null> {
  const inTime = AbortSignal.timeout(DIAL_WITHIN_MS);
  try {
    return await door.dial(AbortSignal.any([leaving, inTime]));
  } catch (error) {
    if (!inTime.aborted) throw error;
    throw new LostConnection(`no answer within ${DIAL_WITHIN_MS / 1000} s`, { cause: error });
  }
}

/** Owns the socket. Throws as dial does. */
async function joinOver(socket: Duplex, door: Door, me: Joining, leaving: AbortSignal): Promise<ServedShell> {
  const signal = orAfter(leaving, ANSWER_WITHIN_MS);
  const cut = () => socket.destroy();
  socket.on("error", () => {});
  signal.addEventListener("abort", cut);
  try {
    const hostKey = makeOneTimeKey();
    const query = new URLSearchParams({
      machine: me.name,
      queues: me.queues.join(","),
      process: me.process,
      key: hostKey.publicKey.toString("base64url"),
      version: VERSION,
      ...(me.capacity !== null && { capacity: JSON.stringify(me.capacity) }),
    });
    const asked = { headers: door.headers, path: `/v1/join?${query}`, protocol: JOIN_PROTOCOL };
    const answer = await dialIn(socket, asked);
    const clientKey = Buffer.from(answer.get("sshoal-key") ?? "", "base64");
    return await serveShell({ stream: socket, hostKey, clientKey, shell: joinedShell() }, signal);
  } catch (error) {
    socket.destroy();
    if (error instanceof UserError) throw error;
    throw new LostConnection((error as Error).message, { cause: error });
  } finally {
    signal.removeEventListener("abort", cut);
  }
}

/** Throws UserError for what a repeat cannot change, such as a refused login. */
export async function dialAgain(door: Door, me: Joining, leaving: AbortSignal): Promise<ServedShell> {
  const pending = new Set<Promise<Dialled | null>>();
  for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs = Math.min(2 * pauseMs, LONGEST_PAUSE_MS)) {
    await sleep(pauseMs * (0.5 + Math.random() / 2), null, { signal: leaving });
    const one = orNull(knock(door, leaving));
    pending.add(one);
    one.finally(() => pending.delete(one)).catch(() => {});
    // While the link is away, packets of a connection are lost, and are sent again later and later. A new one is faster.
    const dialled = await Promise.race([...pending, sleep(SLOW_MS, null, { signal: leaving })]);
    if (dialled === null) continue;
    for (const other of pending) void other.then((found) => found?.socket.destroy()).catch(() => {});
    pending.clear();
    const shell = await orNull(joinOver(dialled.socket, door, me, leaving));
    if (shell !== null) return shell;
  }
}

/** Null for what a repeat can change. */
async function orNull<T>(work: Promise<T | null>): Promise<T | null> {
  try {
    return await work;
  } catch (error) {
    if (error instanceof LostConnection || (error instanceof ServiceError && error.status >= 500))
      return null;
    throw error;
  }
}

function install({ server, name, queues, capacity }: JoinOptions): ExitCode {
  const [, program = ""] = process.argv;
  const word = serverWord(server);
  const command = [
    process.execPath,
    program,
    "join",
    ...(word === null ? [] : [word]),
    "--name",
    name,
    "--queue",
    ...queues,
    ...(capacity === null ? [] : ["--capacity", JSON.stringify(capacity)]),
    ...(server.tokenFile === null ? [] : ["--token-file", path.resolve(server.tokenFile)]),
  ];
  // A refusal stays one.
  const more = ["RestartSec=5", `RestartPreventExitStatus=${ExitCode.BadInput}`];
  const description = "A machine of a queue service of sshoal";
  process.stdout.write(installUnit("sshoal-join", { command, description, more }));
  return ExitCode.Success;
}

export function noAnswer({ at, startCommand }: Door, cause: LostConnection): UserError {
  return new UserError(`the queue service${at} does not answer: ${cause.message}`, {
    hint: startCommand,
    exitCode: ExitCode.JobFailed,
    cause,
  });
}

export function aborted(signal: AbortSignal): Promise<null> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve(null);
    signal.addEventListener("abort", () => resolve(null), { once: true });
  });
}

type Change = "joined" | "lost" | "back" | "left";

function reporter({ name, queues, isJson }: JoinOptions, { at }: Door) {
  return (change: Change, reason?: string) => {
    const words = {
      joined: `joined: ${name}; ${queues.length === 1 ? "queue" : "queues"} ${queues.join(", ")}${at}`,
      lost: `lost the link: ${reason}; jobs run on, and it is made again`,
      back: `back: ${name}`,
      left: `left: running jobs run on, and the service collects them when this machine joins again`,
    };
    const json = {
      v: 1,
      kind: `join-${change}`,
      machine: name,
      queues,
      ...(reason !== undefined && { reason }),
    };
    process.stdout.write(`${isJson ? jsonLine({ ...json, at: Date.now() }) : words[change]}\n`);
  };
}
