// A queue service on a machine of its own, as the plain account, and commands of a laptop that ask it through ssh.

import { execFileSync, spawn } from "node:child_process";
import { chownSync, cpSync, existsSync } from "node:fs";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach } from "vitest";
import { isRoot, readableCopy, remoteAccount, takeFromRemote } from "./account.js";
import type { JsonEvent } from "./batch.js";
import { type CommandResult, type LiveCommand, runCommand, spawnCommand } from "./command.js";
import { makeHome } from "./own-home.js";
import { commandOf, killAll, pidsWithHome } from "./processes.js";
import { type Relay, startRelay } from "./relay.js";
import { type SshdOptions, startSshd, type TestHost } from "./sshd.js";
import { surroundings } from "./surroundings.js";
import { until } from "./until.js";
import { makeWorkspace, type Workspace } from "./workspace.js";

interface FarOptions {
  readonly stdin?: string;
  readonly env?: Record<string, string>;
  readonly cwd?: string;
}

export interface FarService {
  host: TestHost;
  relay: Relay;
  /** Of the laptop. */
  work: Workspace;
  home: Workspace;
  /** A machine file: the word for --server. It leads through the relay. */
  server: string;
  /** A directory on the machine that its account can write. */
  dir: string;
  /** A command of the account on the machine. */
  there(args: readonly string[], env?: Record<string, string>): Promise<CommandResult>;
  /** A command on the laptop. */
  run(args: readonly string[], options?: FarOptions): Promise<CommandResult>;
  spawn(args: readonly string[], options?: FarOptions): LiveCommand;
  /** The lines of stdout of a command on the laptop that must succeed. */
  lines(args: readonly string[], options?: FarOptions): Promise<string[]>;
  /** Enqueues one job that needs little, with `--server`; returns its name. */
  add(options: readonly string[], command: string): Promise<string>;
  job(word: string): Promise<JsonEvent>;
  killService(): Promise<void>;
}

/** Call it at the top of a test file; its result is filled before each test. The service runs there already. */
export function useFarService(sshd: SshdOptions = {}, serve: readonly string[] = []): FarService {
  const far = {} as FarService;
  beforeEach(async () => {
    const host = await startSshd({ name: "far", ...sshd });
    const [relay, work, home] = await Promise.all([startRelay(host.port), makeWorkspace(), makeHome()]);
    const dir = `${host.homeDir}/project`;
    await mkdir(dir);
    if (isRoot) chownSync(dir, remoteAccount().uid, remoteAccount().gid);
    takeFromRemote(work.dir);
    const server = await host.machineFile("", relay);
    Object.assign(far, { host, relay, work, home, dir, server }, commandsOf(far));
    const { code, stderr } = await far.there(["serve", ...serve]);
    if (code !== 0) throw new Error(stderr);
  });
  afterEach(async () => {
    await until("all processes of the account have ended", () => {
      const pids = pidsWithHome(far.host.homeDir);
      killAll(pids);
      return pids.length === 0;
    });
    await Promise.all([far.relay.stop(), far.host.stop()]);
    await Promise.all([far.work.remove(), far.home.remove()]);
  });
  return far;
}

function commandsOf(far: FarService): Partial<FarService> {
  const here = ({ cwd, ...options }: FarOptions = {}) =>
    ({ program: "sshoal", home: far.home.dir, cwd: cwd ?? far.work.dir, ...options }) as const;
  return {
    there: (args, env = {}) => runThere(args, far.host.homeDir, env),
    run: (args, options) => runCommand(args, here(options)),
    spawn: (args, options) => spawnCommand(args, here(options)),
    async lines(args, options) {
      const { code, stdout, stderr } = await far.run(args, options);
      if (code !== 0) throw new Error(`exit ${code}: sshoal ${args.join(" ")}\n${stdout}\n${stderr}`);
      return stdout.split("\n").filter((line) => line !== "");
    },
    async add(options, command) {
      const words = ["--num-cpus", "0.01", "--cwd", far.dir, ...options];
      const [name = ""] = await far.lines(["enqueue", "--server", far.server, ...words, "--", command]);
      return name;
    },
    async job(word) {
      const lines = await far.lines(["status", "--server", far.server, word, "--json"]);
      return JSON.parse(lines.find((line) => line.startsWith("{")) ?? "");
    },
    async killService() {
      const { stdout } = await far.there(["serve", "status", "--json"]);
      const { pid } = JSON.parse(stdout);
      process.kill(pid, "SIGKILL");
      await until("the service is dead", () => commandOf(pid) === "");
    },
  };
}

/** With the account and the home of the machine. */
function runThere(
  args: readonly string[],
  homeDir: string,
  more: Readonly<Record<string, string>>,
): Promise<CommandResult> {
  const { uid, gid } = remoteAccount();
  const child = spawn(process.execPath, [join(installed(), "sshoal.js"), ...args], {
    cwd: homeDir,
    env: { ...surroundings(), HOME: homeDir, TERM: "dumb", ...more },
    stdio: ["ignore", "pipe", "pipe"],
    ...(isRoot && { uid, gid }),
  });
  const text = { stdout: "", stderr: "" };
  child.stdout.on("data", (chunk) => (text.stdout += chunk));
  child.stderr.on("data", (chunk) => (text.stderr += chunk));
  return new Promise((resolve) => {
    child.once("close", (code, signal) => resolve({ code, signal, ...text }));
  });
}

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const SQLITE = ["node_modules/@photostructure/sqlite", "node_modules/node-gyp-build"];
let copied: string | undefined;

/** An installation that the account can read, with the database that an older Node.js needs. */
function installed(): string {
  if (copied !== undefined) return copied;
  const dist = readableCopy(join(ROOT, "dist"));
  if (isRoot) {
    for (const name of SQLITE)
      if (existsSync(join(ROOT, name))) cpSync(join(ROOT, name), join(dist, name), { recursive: true });
    execFileSync("chmod", ["-R", "a+rX", dist]);
  }
  copied = dist;
  return dist;
}
