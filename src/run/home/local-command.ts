// Runs one command line on this computer, within a limit of time. The line is not among the arguments of a process, where every
// account could read it.

import { spawn } from "node:child_process";
import type { Readable, Writable } from "node:stream";

export interface LocalCommand {
  readonly line: string;
  readonly cwd: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly limitMs: number;
  /** Ends it early. */
  readonly signal: AbortSignal;
}

export interface LocalEnd {
  /** Null: it succeeded; else what went wrong: "exit code 7". */
  readonly problem: string | null;
  /** The beginning of what it printed. */
  readonly output: Buffer;
}

const MOST_OUTPUT_BYTES = 64 * 1024;
/** The line comes by descriptor 3, so that stdin has nothing that the command could take for its input. */
const READ_LINE = 'line=$(cat <&3); exec 3<&-; eval "$line"';

/** What it leaves running in the background is not waited for. */
export function runLocalCommand({ line, cwd, env, limitMs, signal }: LocalCommand): Promise<LocalEnd> {
  // A group of its own: Ctrl-C is for the client, and a command that takes too long ends with all its processes.
  const child = spawn("sh", ["-c", READ_LINE], {
    cwd,
    env,
    detached: true,
    stdio: ["ignore", "pipe", "pipe", "pipe"],
  });
  const output = new Output();
  const printed = [child.stdout, child.stderr] as Readable[];
  for (const stream of printed) stream.on("data", output.add);
  const lineTo = child.stdio[3] as Writable;
  // A shell that could not be started reads nothing.
  lineTo.on("error", () => {});
  lineTo.end(line);
  let stoppedBecause: string | null = null;
  const stop = (reason: string) => {
    stoppedBecause ??= reason;
    if (child.pid !== undefined) killGroup(child.pid);
  };
  const timer = setTimeout(() => stop(`it took longer than ${limitMs / 1000}s`), limitMs);
  const onAbort = () => stop("it was interrupted");
  signal.addEventListener("abort", onAbort, { once: true });
  if (signal.aborted) onAbort();
  return new Promise((resolve) => {
    const end = (problem: string | null) => {
      clearTimeout(timer);
      signal.removeEventListener("abort", onAbort);
      for (const stream of printed) stream.destroy();
      resolve({ problem: stoppedBecause ?? problem, output: output.bytes });
    };
    child.once("error", (error) => end(error.message));
    child.once("exit", (code, killedBy) => {
      const problem = code === 0 ? null : `${killedBy ?? `exit code ${code}`}`;
      afterReading(() => end(problem));
    });
  });
}

/**
 * Node looks for ends of all children when it hears of one, so an end can come before output that is in the pipe already. That
 * is read within a turn of the event loop.
 */
function afterReading(act: () => void): void {
  setImmediate(() => setImmediate(act));
}

class Output {
  bytes: Buffer = Buffer.alloc(0);

  readonly add = (chunk: Buffer): void => {
    const room = MOST_OUTPUT_BYTES - this.bytes.length;
    if (room > 0) this.bytes = Buffer.concat([this.bytes, chunk.subarray(0, room)]);
  };
}

function killGroup(pid: number): void {
  try {
    process.kill(-pid, "SIGKILL");
  } catch {
    // It has ended by itself.
  }
}
