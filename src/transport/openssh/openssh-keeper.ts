// Runs ssh so that it never outlives this process, even if this process is killed, and reports its end.

import { spawn } from "node:child_process";
import { once } from "node:events";
import { Socket } from "node:net";
import type { Readable } from "node:stream";
import { setTimeout as sleep } from "node:timers/promises";
import { deferred } from "../deferred.js";

/**
 * Runs ssh as a child of a shell. The shell waits for its stdin to end, which happens even if this process is killed;
 * then it ends ssh and removes `$1`. ssh's own stdin is a socket that no other process has: it shows when ssh ends.
 */
const SCRIPT = `dir=$1; shift
"$@" <&3 3>&- &
exec 3>&- 2>/dev/null
read -r _
kill $!
wait $!
rm -rf -- "$dir"`;

const LAST_WORDS_MS = 200;
const POLITE_END_MS = 2000;

export interface Keeper {
  readonly stderr: Readable;
  /** Resolves when ssh has ended and its last message was read. */
  readonly ended: Promise<void>;
  /** Ends ssh. Resolves when nothing is left. */
  end(): Promise<void>;
}

/** `dir`: removed when ssh has ended. */
export function keepSsh(words: readonly string[], dir: string, env: NodeJS.ProcessEnv): Keeper {
  // In its own session: Ctrl-C at the terminal does not reach it, and it cannot ask questions on the terminal.
  const child = spawn("/bin/sh", ["-c", SCRIPT, "sh", dir, "ssh", ...words], {
    env,
    detached: true,
    stdio: ["pipe", "ignore", "pipe", "pipe"],
  });
  const { stdin, stderr } = child;
  const life = child.stdio[3];
  if (stdin === null || stderr === null || !(life instanceof Socket))
    throw new Error("spawned without pipes");
  const left = deferred<void>();
  child.once("exit", () => left.resolve()).once("error", () => left.resolve());
  stdin.on("error", () => {}); // it was killed
  life.on("error", () => {}).resume();
  const silence = once(stderr, "close");
  const ended = once(life, "close").then(async () => {
    // Its last message may still arrive, or a ProxyCommand may keep stderr open for ever.
    await Promise.race([silence, sleep(LAST_WORDS_MS)]);
    stdin.end();
  });
  const end = async () => {
    stdin.end();
    const timer = setTimeout(() => child.kill("SIGKILL"), POLITE_END_MS);
    await left.promise;
    clearTimeout(timer);
    for (const stream of [life, stderr]) stream.destroy();
  };
  return { stderr, ended, end };
}
