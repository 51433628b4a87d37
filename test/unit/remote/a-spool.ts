// A spool made by hand, as after a hand-over, and slot loops that run on it under a chosen shell.

import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { existsSync, mkdtempSync, openSync, readFileSync, rmSync } from "node:fs";
import { readdir, readFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { runtimeFile, SPOOL_SCRIPTS } from "../../../src/remote/runtime-files.js";
import { BEGIN } from "../../../src/remote/spool/hand-over.js";
import { needsOwnShell } from "../../../src/remote/spool/own-shell.js";
import type { Account } from "../../rig/account.js";
import { atEnd } from "../../rig/at-end.js";
import { STAND_IN_BIN } from "../../rig/gpus.js";
import { killAll, pidsWithHome } from "../../rig/processes.js";
import { until } from "../../rig/until.js";
import { makeWorkspace, type Workspace } from "../../rig/workspace.js";

export const HOST = readFileSync("/proc/sys/kernel/hostname", "utf8").trim();
export const BOOT_ID = readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim();

/** True if slots run without fast.sh: the whole suite runs with it, and again without it. */
export const HAS_PLAIN_SLOTS = process.env.SSHOAL_TEST_SLOTS === "plain";

/** Different for each test file: jobs are found by the name of their batch, and other processes may run the same tests. */
export const BATCH = `b-${randomBytes(3).toString("hex")}`;

/** The words that run a script, and whether it uses busybox's tools only. */
export interface Shell {
  readonly words: readonly [string, ...string[]];
  readonly hasOnlyBusybox?: boolean;
}

/** The shells that slot.sh must run under, each with its name in tests. */
export const SHELLS: [string, Shell][] = [
  ["dash", { words: ["dash"] }],
  ["bash", { words: ["bash"] }],
  ["busybox", { words: ["sh"], hasOnlyBusybox: true }],
];

export interface Home extends Workspace {
  readonly env: Readonly<Record<string, string>>;
  /** Fails if any process of this home is left, then removes everything. */
  close(): Promise<void>;
}

/** A separate account, in which sleeping takes no time. */
export async function makeHome({ hasOnlyBusybox = false }: Shell): Promise<Home> {
  const home = await makeWorkspace({
    "bin/sleep": '#!/bin/sh\ncase $1 in 0.2 | 1 | 5) set -- 0.02 ;; esac\nexec /bin/sleep "$1"\n',
  });
  const tools = hasOnlyBusybox ? busyboxTools() : "/usr/bin:/bin";
  return {
    ...home,
    env: {
      PATH: `${home.path("bin")}:${STAND_IN_BIN}:${tools}`,
      HOME: home.dir,
      // A machine of its own, beside other tests.
      SSHOAL_CLAIMS: home.dir,
    },
    async close() {
      try {
        // For less time than a hook has: otherwise the report names the hook instead.
        await until("no process is left", () => pidsWithHome(home.dir).length === 0, 8000);
      } finally {
        killAll(pidsWithHome(home.dir));
        await home.remove();
      }
    },
  };
}

let busyboxDir: string | undefined;

function busyboxTools(): string {
  if (busyboxDir !== undefined) return busyboxDir;
  const dir = mkdtempSync(join(tmpdir(), "sshoal-busybox-"));
  atEnd(() => rmSync(dir, { recursive: true }));
  execFileSync("busybox", ["--install", "-s", dir]);
  busyboxDir = dir;
  return dir;
}

export interface SpoolFacts {
  readonly batch?: string;
  readonly settings?: Readonly<Record<string, string | number>>;
  /** The account that its loops run as; absent: that of the test. */
  readonly account?: Pick<Account, "uid" | "gid">;
}

interface Loop {
  readonly child: ChildProcess;
  readonly ended: Promise<{ code: number | null; log: string }>;
}

export interface Spool {
  readonly dir: string;
  read(path: string): Promise<string>;
  exists(path: string): boolean;
  slot(index: number): Promise<void>;
  /** What jobs of this kind need: `need <MB> <thousandths of cores> <0 or 1>`, then lines without the kind. */
  need(lines: readonly string[], kind?: string): Promise<void>;
  /** The room of the machine, besides its batch. */
  room(lines: readonly string[]): Promise<void>;
  job(
    key: string,
    command: string,
    tree?: string,
    facts?: {
      isLarge?: boolean;
      kind?: string;
      keep?: readonly string[];
      maxOutput?: string;
      memoryLimit?: number;
    },
  ): Promise<void>;
  start(index?: number, env?: Readonly<Record<string, string>>): Loop;
  /** Starts the loop and waits for its end; it must not complain about anything. */
  run(index?: number, env?: Readonly<Record<string, string>>): Promise<void>;
  /** The lines of all event logs, one log after the other. */
  events(): Promise<string[]>;
  untilEvent(start: string): Promise<string>;
  /** Everything below a job's work/, directories with a slash; empty if the directory does not exist. */
  results(key: string): Promise<string[]>;
}

export async function makeSpool(home: Home, shell: Shell, facts: SpoolFacts = {}): Promise<Spool> {
  const { batch = BATCH } = facts;
  const place = `.sshoal/batches/${batch}@${HOST}`;
  const dir = home.path(place);
  const settings = {
    batch,
    copy_unchanged: 0,
    limit: 0,
    plain_slots: HAS_PLAIN_SLOTS ? "yes" : "",
    ...facts.settings,
  };
  for (const name of SPOOL_SCRIPTS) await home.write(`${place}/${name}`, runtimeFile(name));
  await home.write(
    `${place}/settings`,
    Object.entries(settings)
      .map(([name, value]) => `${name}='${value}'\n`)
      .join(""),
  );
  const read = (path: string) => readFile(join(dir, path), "utf8");
  // busybox may have no flock, so each loop warns. Most tests are not about that.
  const events = async () =>
    (await readEvents(dir)).filter((line) => !/^warned \d+ there is no flock/.test(line));
  const spool: Spool = {
    dir,
    read,
    exists: (path) => existsSync(join(dir, path)),
    events,
    async slot(index) {
      await home.write(`${place}/slots/${index}/events`, "");
    },
    async need(lines, kind = "-") {
      const text = lines.map((line) => `${line.replace(" ", ` ${kind} `)}\n`).join("");
      await home.write(`${place}/needs/${kind}`, text);
    },
    async room(lines) {
      await home.write(`${place}/room`, [`batch ${batch}`, ...lines].map((line) => `${line}\n`).join(""));
    },
    async job(key, command, tree = "-", { isLarge = false, kind, keep, maxOutput, memoryLimit } = {}) {
      if (memoryLimit !== undefined)
        await home.write(`${place}/jobs/${key}/memory-limit`, `${memoryLimit}\n`);
      if (maxOutput !== undefined) await home.write(`${place}/jobs/${key}/max-output`, `${maxOutput}\n`);
      if (keep) await home.write(`${place}/jobs/${key}/keep`, keep.map((line) => `${line}\n`).join(""));
      if (kind !== undefined) await home.write(`${place}/jobs/${key}/own`, `${kind}\n`);
      const hasDirectories =
        !["-", "@"].includes(tree) && (await hasDirectory(home.path(".sshoal/trees", tree)));
      const isOwn = keep !== undefined || memoryLimit !== undefined || needsOwnShell(command);
      const flags = [hasDirectories, isLarge, isOwn].map((flag) => (flag ? 1 : 0));
      const treeLine = `#tree ${tree} ${flags.join(" ")}`;
      await home.write(`${place}/jobs/${key}/command`, `${treeLine}\n${BEGIN}\n${command}\n`);
    },
    start(index = 0, env = {}) {
      const log = join(dir, "slots", String(index), `log-${loops++}`);
      const [program, ...words] = shell.words;
      const child = spawn(program, [...words, "slot.sh", dir, String(index)], {
        cwd: dir,
        env: { ...home.env, ...env },
        detached: true,
        stdio: ["ignore", openSync(log, "a"), openSync(log, "a")],
        ...facts.account,
      });
      const ended = once(child, "close").then(([code]) => ({ code, log: readFileSync(log, "utf8") }));
      return { child, ended };
    },
    async run(index = 0, env = {}) {
      // Its exit code does not matter, except that no signal killed it.
      const { code, log } = await spool.start(index, env).ended;
      if (code === null || log !== "") throw new Error(`the loop ended with ${code} and printed: ${log}`);
    },
    untilEvent: (start) =>
      until(`an event ${start}`, async () => (await events()).find((line) => line.startsWith(start))),
    results: (key) => list(join(dir, "jobs", key, "work")),
  };
  await spool.slot(0);
  await spool.room(["cpu 8000 0", "keep 0 0 0", "jobs -"]);
  await spool.need(["need 1 1000 0"]);
  return spool;
}

let loops = 0;

/** First the logs of clients, then those of slots. */
export async function readEvents(spool: string): Promise<string[]> {
  const names = await readdir(spool);
  const slots = existsSync(join(spool, "slots")) ? await readdir(join(spool, "slots")) : [];
  const logs = [
    ...names.filter((name) => /^events\b/.test(name)),
    ...slots.map((slot) => `slots/${slot}/events`),
  ];
  const there = logs.map((log) => join(spool, log)).filter((log) => existsSync(log));
  const texts = await Promise.all(there.map((log) => readFile(log, "utf8")));
  return texts.flatMap((text) => text.split("\n").slice(0, -1));
}

async function hasDirectory(dir: string): Promise<boolean> {
  return (await readdir(dir, { withFileTypes: true })).some((entry) => entry.isDirectory());
}

async function list(dir: string): Promise<string[]> {
  if (!existsSync(dir)) return [];
  const entries = await readdir(dir, { withFileTypes: true, recursive: true });
  return entries
    .map((entry) => {
      const below = join(entry.parentPath, entry.name).slice(dir.length + 1);
      return entry.isDirectory() ? `${below}/` : below;
    })
    .toSorted();
}

/** What a process writes to identify itself: its pid, its start time, this boot and this host. */
export function liveLine(pid: number): string {
  const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
  return `${pid} ${stat.slice(stat.lastIndexOf(")") + 2).split(" ")[19]} ${BOOT_ID}@${HOST}\n`;
}
