// The queue service for tests: a home of its own per test, commands in it, and the facts that tests wait for.

import { readFileSync } from "node:fs";
import { mkdir } from "node:fs/promises";
import { hostname } from "node:os";
import { afterEach, beforeEach } from "vitest";
import { type Answer, type Asked, askSocket } from "./ask-socket.js";
import type { JsonEvent } from "./batch.js";
import { type CommandResult, type LiveCommand, runCommand, spawnCommand } from "./command.js";
import { makeHome } from "./own-home.js";
import { commandOf, killAll, pidsWithHome } from "./processes.js";
import { until } from "./until.js";
import { makeWorkspace, type Workspace } from "./workspace.js";

/** So little that only the queue limits how many jobs run, whatever else this computer does. */
export const LITTLE = ["--num-cpus", "0.01"];

export interface QueueServiceRig {
  readonly work: Workspace;
  readonly home: Workspace;
  /** Variables of all commands. */
  readonly env: Record<string, string>;
  run(
    args: readonly string[],
    more?: { stdin?: string; env?: Record<string, string> },
  ): Promise<CommandResult>;
  spawn(args: readonly string[]): LiveCommand;
  /** The lines of stdout of a command that must succeed. */
  lines(args: readonly string[], stdin?: string): Promise<string[]>;
  /** Enqueues one job that needs little; returns its name. */
  add(queue: string, options: readonly string[], command: string): Promise<string>;
  note(): { readonly pid: number; readonly socket: string; readonly state: string };
  kill(): Promise<void>;
  ask(path: string, asked?: Asked): Promise<Answer>;
  json(path: string, asked?: Asked): Promise<JsonEvent>;
  /** By `QUEUE/ID`. */
  job(word: string): Promise<JsonEvent>;
  /** All jobs of a queue, by id. */
  jobs(queue: string): Promise<JsonEvent[]>;
  untilState(word: string, ...states: readonly string[]): Promise<JsonEvent>;
}

/** Call it at the top of a test file; its result is filled before each test. The service runs after `serve`. */
export function useQueueService(): QueueServiceRig {
  const rig = {} as QueueServiceRig;
  beforeEach(async () => {
    const [work, home] = await Promise.all([makeWorkspace(), makeHome()]);
    await mkdir(home.path("runtime"), { mode: 0o700 });
    Object.assign(rig, makeRig(work, home));
  });
  afterEach(async () => {
    await endAll(rig.home.dir);
    await Promise.all([rig.work.remove(), rig.home.remove()]);
  });
  return rig;
}

/** A killed shell may just have started a process. */
async function endAll(homeDir: string): Promise<void> {
  await until("all processes of the test have ended", () => {
    const pids = pidsWithHome(homeDir);
    killAll(pids);
    return pids.length === 0;
  });
}

function makeRig(work: Workspace, home: Workspace): QueueServiceRig {
  // Claims of its own: queues of the same name in tests that run at the same time would wait for each other.
  const claims = process.env.SSHOAL_CLAIMS ?? "";
  const env: Record<string, string> = { XDG_RUNTIME_DIR: home.path("runtime"), SSHOAL_CLAIMS: claims };
  const options = { cwd: work.dir, program: "sshoal", home: home.dir } as const;
  const rig: QueueServiceRig = {
    work,
    home,
    env,
    run: (args, { env: more, ...rest } = {}) =>
      runCommand(args, { ...options, ...rest, env: { ...env, ...more } }),
    spawn: (args) => spawnCommand(args, { ...options, env }),
    async lines(args, stdin) {
      const { code, stdout, stderr } = await rig.run(args, stdin === undefined ? {} : { stdin });
      if (code !== 0) throw new Error(`exit ${code}: sshoal ${args.join(" ")}\n${stdout}\n${stderr}`);
      return stdout.split("\n").filter((line) => line !== "");
    },
    async add(queue, words, command) {
      const [name = ""] = await rig.lines(["enqueue", queue, ...LITTLE, ...words, "--", command]);
      return name;
    },
    note: () => JSON.parse(readFileSync(noteOf(home), "utf8")),
    async kill() {
      const { pid } = rig.note();
      process.kill(pid, "SIGKILL");
      await until("the service is dead", () => commandOf(pid) === "");
    },
    ask: (path, asked) => askSocket(rig.note().socket, path, asked),
    async json(path, asked) {
      const { status, text } = await rig.ask(path, asked);
      if (status !== 200) throw new Error(`${status} for ${path}: ${text}`);
      return JSON.parse(text);
    },
    job: (word) => rig.json(`/v1/jobs/${word}`),
    async jobs(queue) {
      const { jobs } = await rig.json(`/v1/jobs?queue=${queue}&limit=100000`);
      return (jobs as JsonEvent[]).toReversed();
    },
    untilState: (word, ...states) =>
      until(
        `${word} is ${states.join(" or ")}`,
        async () => {
          const job = await rig.job(word);
          return states.includes(job.state) ? job : null;
        },
        40_000,
      ),
  };
  return rig;
}

function noteOf(home: Workspace): string {
  return home.path(`.local/state/sshoal/service@${hostname().replace(/[^\w.-]/g, "_")}.json`);
}
