// Starts the queue service in a process of its own, and waits until it answers.

import { spawn } from "node:child_process";
import { closeSync, existsSync, fstatSync, openSync, readFileSync, realpathSync } from "node:fs";
import path from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { ExitCode, UserError } from "../../../errors.js";
import { readHolder } from "../../../run/home/lock.js";
import { connectService, type ServiceClient } from "../../../service/client/service-client.js";
import { socketDoor } from "../../../service/client/socket-door.js";
import { lockFile } from "../../../service/service-place.js";
import { makeOwnDir } from "../../../service/store/state-dir.js";
import { serviceEnvironment } from "./service-environment.js";

const PATIENCE_MS = 60_000;
const AGAIN_MS = 25;

interface Starting {
  /** Where the service will be found. */
  readonly file: string;
  readonly stateDir: string;
  /** Further options of the service. */
  readonly words: readonly string[];
}

/** Throws UserError with the reason from its log. */
export async function startInBackground({ file, stateDir, words }: Starting): Promise<ServiceClient> {
  makeOwnDir(stateDir);
  const log = path.join(stateDir, "service.log");
  const stream = openSync(log, "a", 0o600);
  const from = fstatSync(stream).size;
  const child = spawn(process.execPath, serviceWords(stateDir, words), {
    detached: true,
    cwd: "/",
    env: serviceEnvironment(process.env),
    stdio: ["ignore", stream, stream],
  });
  closeSync(stream);
  let ended: number | null = null;
  child.once("error", () => {
    ended = ExitCode.JobFailed;
  });
  child.once("exit", (code) => {
    ended = code ?? ExitCode.JobFailed;
  });
  child.unref();
  for (const until = Date.now() + PATIENCE_MS; Date.now() < until; await pause(AGAIN_MS)) {
    const client = await connectService(socketDoor(file));
    if (client !== null) return client;
    // A start at the same moment has the lock, and answers in a moment.
    if (ended !== null && readHolder(lockFile(stateDir)) === null) break;
  }
  if (ended !== null) throw startError(readFileSync(log).subarray(from).toString(), ended, log);
  throw new UserError(`the queue service does not answer after ${PATIENCE_MS / 1000}s`, {
    hint: `cat ${log}`,
    exitCode: ExitCode.JobFailed,
  });
}

/** What runs the service in the foreground. */
export function serviceWords(stateDir: string, words: readonly string[]): string[] {
  return [serviceProgram(), "serve", "--foreground", "--state", stateDir, ...words];
}

/** `sshoal`, also for `grass`, which is installed beside it. */
function serviceProgram(): string {
  const [, program = ""] = process.argv;
  if (!/^grass(\.js)?$/.test(path.basename(program))) return program;
  return path.join(path.dirname(realpathSync(program)), "sshoal.js");
}

/** `text`: what it wrote. */
export function startError(text: string, code: number, log: string): UserError {
  const lines = text.trimEnd().split("\n");
  const at = lines.findLastIndex((line) => line.startsWith("error: "));
  const reason = at === -1 ? (lines.at(-1) ?? "") : (lines[at] ?? "").slice("error: ".length);
  const hint = at === -1 ? undefined : lines.slice(at + 1).find((line) => line.startsWith("try: "));
  const known = Object.values(ExitCode).find((each) => each === code && each !== ExitCode.Success);
  return new UserError(`the queue service did not start: ${reason || `exit code ${code}`}`, {
    hint: hint?.slice("try: ".length) ?? (existsSync(log) ? `cat ${log}` : "sshoal serve --foreground"),
    exitCode: known ?? ExitCode.JobFailed,
  });
}
