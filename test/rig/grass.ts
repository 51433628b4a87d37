// Lines of a terminal for tests of `grass`: sh gets them exactly as typed, and finds the built commands on its PATH.

import { spawn } from "node:child_process";
import { chmodSync, mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { beforeEach } from "vitest";
import type { CommandResult } from "./command.js";
import { type QueueServiceRig, useQueueService } from "./queue-service.js";
import { until } from "./until.js";
import type { Workspace } from "./workspace.js";

const DIST = fileURLToPath(new URL("../../dist", import.meta.url));
/** A program that notes its arguments, and what else a test asks about. */
const NOTING = [
  "#!/bin/sh",
  `echo "\${0##*/} $* on \${CUDA_VISIBLE_DEVICES-none}" >> "$HOME/notes"`,
  "",
].join("\n");

interface TypedDaemon {
  stderr(): string;
  /** As Ctrl-C does. */
  interrupt(): void;
  readonly ended: Promise<unknown>;
}

export interface GrassRig extends QueueServiceRig {
  /** `more`: variables. */
  type(line: string, more?: Readonly<Record<string, string>>): Promise<CommandResult>;
  /** A line that must succeed; returns what it printed. */
  ok(line: string, more?: Readonly<Record<string, string>>): Promise<string>;
  /** A daemon in the foreground; resolves when it listens. */
  daemon(line: string): Promise<TypedDaemon>;
  /** What the stand-ins for programs of users have noted. */
  notes(): Promise<string[]>;
}

/** `programs`: stand-ins that note how they were called. */
export function useGrass(programs: readonly string[] = []): GrassRig {
  const rig = useQueueService() as GrassRig;
  beforeEach(() => {
    makeBin(rig.home.path("bin"), programs);
    const { work, home, env } = rig;
    Object.assign(rig, typing({ homeDir: home.dir, cwd: work.dir, env, through: [] }), {
      notes: () => notesIn(home),
    });
  });
  return rig;
}

export async function notesIn(home: Workspace): Promise<string[]> {
  const text = await home.read("notes").catch(() => "");
  return text.split("\n").filter((line) => line !== "");
}

interface Typing {
  readonly homeDir: string;
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  /** What runs sh; empty: nothing. */
  readonly through: readonly string[];
}

export type Typed = Pick<GrassRig, "type" | "ok" | "daemon">;

/** The programs of a computer: ours, and stand-ins for those of users. */
export function makeBin(bin: string, programs: readonly string[], dist = DIST): void {
  mkdirSync(bin);
  for (const name of ["grass", "sshoal"]) symlinkSync(`${dist}/${name}.js`, `${bin}/${name}`);
  for (const name of programs) {
    writeFileSync(`${bin}/${name}`, NOTING);
    chmodSync(`${bin}/${name}`, 0o755);
  }
}

export function typing({ homeDir, cwd, env: own, through }: Typing): Typed {
  const start = (line: string, more: Readonly<Record<string, string>> = {}) => {
    const PATH = `${homeDir}/bin:${process.env.PATH}`;
    const env = { PATH, HOME: homeDir, TERM: "dumb", ...own, ...more };
    const [program = "", ...words] = [...through, "sh", "-c", line];
    const child = spawn(program, words, { cwd, env, detached: true });
    const text = { stdout: "", stderr: "" };
    child.stdin.end();
    child.stdout.on("data", (chunk) => (text.stdout += chunk));
    child.stderr.on("data", (chunk) => (text.stderr += chunk));
    const ended = new Promise<CommandResult>((resolve) => {
      child.once("close", (code, signal) => resolve({ code, signal, ...text }));
    });
    return { child, text, ended };
  };
  const type = (line: string, more?: Readonly<Record<string, string>>) => start(line, more).ended;
  return {
    type,
    async ok(line, more) {
      const { code, stdout, stderr } = await type(line, more);
      if (code !== 0) throw new Error(`exit ${code}: ${line}\n${stdout}\n${stderr}`);
      return stdout;
    },
    async daemon(line) {
      const { child, text, ended } = start(line);
      await until(`it listens: ${line}`, () => / listens at | is connected /.test(text.stderr), 60_000);
      return {
        stderr: () => text.stderr,
        interrupt: () => process.kill(-(child.pid ?? 0), "SIGINT"),
        ended,
      };
    },
  };
}
