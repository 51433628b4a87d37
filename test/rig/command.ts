// Runs the built command as a user would, with a private HOME, so that each test has its own known_hosts and records.

import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { type Account, readableCopy } from "./account.js";
import { atEnd } from "./at-end.js";
import { surroundingsFor } from "./host.js";
import { surroundings } from "./surroundings.js";

export interface CommandOptions {
  readonly cwd: string;
  readonly program?:
    | "execute-batch"
    | "execute-remote"
    | "grass"
    | "simple-gpu-scheduler"
    | "simple-hypersearch"
    | "sshoal";
  /** HOME; absent: one directory for all commands of the test file. */
  readonly home?: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly stdin?: string;
  /** Runs as this user; only possible as root. */
  readonly uid?: number;
  /** It is killed if it runs longer than this. */
  readonly deadlineMs?: number;
}

export interface CommandResult {
  /** Null if a signal ended it. */
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stdout: string;
  readonly stderr: string;
}

const DEADLINE_MS = 120_000;

export async function runCommand(args: readonly string[], options: CommandOptions): Promise<CommandResult> {
  const command = spawnCommand(args, options);
  command.child.stdin.end(options.stdin ?? "");
  return command.ended;
}

export interface LiveCommand {
  readonly child: ChildProcessWithoutNullStreams;
  /** The output so far. */
  stdout(): string;
  stderr(): string;
  /** Resolves once `isTrue`, checked after every output; rejects if the command ends first. */
  until(isTrue: (command: LiveCommand) => boolean): Promise<void>;
  readonly ended: Promise<CommandResult>;
}

export function spawnCommand(args: readonly string[], options: CommandOptions): LiveCommand {
  const here = surroundingsFor(args);
  const as = userFor(options, here.as);
  const program = join(as === null ? DIST : readableDist(), `${options.program ?? "execute-batch"}.js`);
  const home = options.home === undefined ? { HOME: sharedHome(), ...here.env } : { HOME: options.home };
  const child = spawn(process.execPath, [program, ...args], {
    cwd: options.cwd,
    env: { ...surroundings(), TERM: "dumb", ...home, ...options.env },
    ...as,
  });
  child.stdin.on("error", () => {}); // it may end without reading
  const text = { stdout: "", stderr: "" };
  child.stdout.on("data", (chunk) => (text.stdout += chunk));
  child.stderr.on("data", (chunk) => (text.stderr += chunk));
  const { deadlineMs = DEADLINE_MS } = options;
  const ended = new Promise<CommandResult>((resolve, reject) => {
    const timer = setTimeout(() => {
      child.kill("SIGKILL");
      reject(
        new Error(`still running after ${deadlineMs} ms: ${args.join(" ")}\n${text.stdout}\n${text.stderr}`),
      );
    }, deadlineMs);
    child.once("close", (code, signal) => {
      clearTimeout(timer);
      resolve({ code, signal, ...text });
    });
  });
  ended.catch(() => {});
  const command: LiveCommand = {
    child,
    stdout: () => text.stdout,
    stderr: () => text.stderr,
    until: (isTrue) => until(command, isTrue),
    ended,
  };
  return command;
}

async function until(command: LiveCommand, isTrue: (command: LiveCommand) => boolean): Promise<void> {
  const { child, ended } = command;
  let look = () => {};
  const seen = new Promise<void>((resolve) => {
    look = () => {
      if (isTrue(command)) resolve();
    };
    for (const stream of [child.stdout, child.stderr]) stream.on("data", look);
    look();
  });
  const early = ended.then(({ code, stdout, stderr }) => {
    if (!isTrue(command)) throw new Error(`ended too early with ${code}:\n${stdout}\n${stderr}`);
  });
  try {
    await Promise.race([seen, early]);
  } finally {
    for (const stream of [child.stdout, child.stderr]) stream.off("data", look);
  }
}

/** Null: as the tests themselves. */
function userFor({ uid }: CommandOptions, account?: Account): { uid: number; gid: number } | null {
  if (uid !== undefined) return { uid, gid: uid };
  return account === undefined ? null : { uid: account.uid, gid: account.gid };
}

const DIST = fileURLToPath(new URL("../../dist", import.meta.url));
let copied: string | undefined;

function readableDist(): string {
  copied ??= readableCopy(DIST);
  return copied;
}

let home: string | undefined;

function sharedHome(): string {
  if (home !== undefined) return home;
  const dir = mkdtempSync(join(tmpdir(), "sshoal-home-"));
  atEnd(() => rmSync(dir, { recursive: true, force: true }));
  home = dir;
  return dir;
}
