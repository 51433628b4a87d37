// Runs one command to its end and measures time, processor and memory.

import { type ChildProcess, spawn } from "node:child_process";
import { closeSync, openSync, readFileSync } from "node:fs";

export interface Call {
  readonly argv: readonly string[];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Files for its output. */
  readonly stdout: string;
  readonly stderr: string;
  readonly signal: AbortSignal;
}

export interface Taken {
  /** By the local clock, in ms. */
  readonly startedAt: number;
  readonly wallMs: number;
  /** User and system time, with the children it has waited for; up to LOOK_EVERY_MS at the end are missing. */
  readonly cpuMs: number;
  /** The peak resident memory of the command itself. */
  readonly peakBytes: number;
}

const LOOK_EVERY_MS = 25;
const DEADLINE_MS = 5 * 60_000;
/** The unit of /proc/PID/stat on every Linux. */
const TICK_MS = 10;

/** Rejects unless it exits with 0 in time; otherwise its whole process group is ended. */
export async function take(call: Call): Promise<Taken> {
  call.signal.throwIfAborted();
  const [out, err] = [openSync(call.stdout, "w"), openSync(call.stderr, "w")];
  const [program = "", ...args] = call.argv;
  const startedAt = Date.now();
  const begun = performance.now();
  const child = spawn(program, args, {
    cwd: call.cwd,
    env: call.env,
    stdio: ["ignore", out, err],
    detached: true,
  });
  for (const fd of [out, err]) closeSync(fd);
  const watch = watchProcess(child);
  const end = () => child.pid !== undefined && process.kill(-child.pid, "SIGKILL");
  const timer = setTimeout(end, DEADLINE_MS);
  call.signal.addEventListener("abort", end);
  try {
    const how = await new Promise((resolve, reject) => {
      child.once("error", reject);
      child.once("exit", (code, signal) => resolve(signal ?? code));
    });
    const wallMs = performance.now() - begun;
    if (how !== 0)
      throw new Error(`${call.argv.join(" ")}: ${how}\n${tailOf(call.stdout)}${tailOf(call.stderr)}`);
    return { startedAt, wallMs, ...watch.seen() };
  } finally {
    watch.stop();
    clearTimeout(timer);
    call.signal.removeEventListener("abort", end);
  }
}

function watchProcess({ pid }: ChildProcess) {
  const seen = { cpuMs: 0, peakBytes: 0 };
  const look = () => {
    try {
      const [, peakKb = 0] = /^VmHWM:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, "utf8")) ?? [];
      const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
      // utime, stime, cutime and cstime; the name in parentheses may contain spaces.
      const times = stat
        .slice(stat.lastIndexOf(")") + 2)
        .split(" ")
        .slice(11, 15);
      seen.peakBytes = Math.max(seen.peakBytes, Number(peakKb) * 1024);
      seen.cpuMs = times.reduce((sum, ticks) => sum + Number(ticks), 0) * TICK_MS;
    } catch {
      // It has ended.
    }
  };
  const timer = setInterval(look, LOOK_EVERY_MS);
  return { seen: () => seen, stop: () => clearInterval(timer) };
}

function tailOf(path: string): string {
  return readFileSync(path, "utf8").slice(-2000);
}
