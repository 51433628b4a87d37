// One more ssh process that uses a held connection, for one script.

import { spawn } from "node:child_process";
import { readFile, rm } from "node:fs/promises";
import { connect } from "node:net";
import { deferred } from "../deferred.js";
import { LOGIN_SHELL_WORDS } from "../script/bootstrap.js";
import type { ExecEnd, Running } from "../session.js";
import { type Held, userWords } from "./openssh-words.js";

/** ssh's exit code for its own errors; a script can also end with it. */
const FAILED = 255;

export interface OpensshChannel {
  readonly running: Running;
  /** Resolves once it is known whether the machine opened the channel: null, or ssh's reason. */
  readonly refusal: Promise<string | null>;
  /** Resolves when nothing more arrives through it. */
  readonly closed: Promise<void>;
  lose(reason: string): void;
}

export interface ChannelOptions {
  readonly held: Held;
  /** The file for this ssh's own messages, because its stderr is the script's. */
  readonly logFile: string;
  readonly env: NodeJS.ProcessEnv;
  /** Called if the connection is found gone. */
  readonly whyGone: () => Promise<string>;
}

export function openChannel({ held, logFile, env, whyGone }: ChannelOptions): OpensshChannel {
  const words = [...userWords(held), "-vv", "-E", logFile, "--", held.destination, LOGIN_SHELL_WORDS];
  const child = spawn("ssh", words, { env, detached: true });
  const [ended, closed, refusal] = [deferred<ExecEnd>(), deferred<void>(), deferred<string | null>()];
  const lose = (reason: string) => ended.resolve({ kind: "lost", reason });
  child.stdout.once("data", () => refusal.resolve(null));
  child.once("error", (error) => {
    lose(`cannot start ssh: ${error.message}`);
    refusal.resolve(null);
    closed.resolve();
  });
  child.once("close", async (code) => {
    const log = await readFile(logFile, "utf8").catch(() => "");
    await rm(logFile, { force: true });
    const reason = (await isHeld(held)) ? null : await whyGone();
    const verdict = reason === null ? judge(code, log) : lost(reason);
    refusal.resolve(verdict.refusal);
    ended.resolve(verdict.end);
    closed.resolve();
  });
  const close = () => {
    lose("closed on this side");
    for (const stream of [child.stdin, child.stdout, child.stderr]) stream.destroy();
    child.kill();
  };
  const { stdin, stdout, stderr } = child;
  return {
    running: { stdin, stdout, stderr, ended: ended.promise, close },
    refusal: refusal.promise,
    closed: closed.promise,
    lose,
  };
}

interface Verdict {
  readonly end: ExecEnd;
  readonly refusal: string | null;
}

/** Once the connection is gone, an exit code does not count, because output may be missing. */
function lost(reason: string): Verdict {
  return { end: { kind: "lost", reason }, refusal: null };
}

/** ssh does not report which signal ended a script, only that there is no exit code. */
function judge(code: number | null, log: string): Verdict {
  if (code === null) return lost("its ssh process was killed");
  if (code !== FAILED || /^debug2: Received exit status from master /m.test(log)) {
    return { end: { kind: "exited", code }, refusal: null };
  }
  if (/master session id: /.test(log)) return { end: { kind: "killed", signal: "a signal" }, refusal: null };
  const says = log.split(/\r?\n/).find((line) => !/^(debug\d: |OpenSSH_|$)/.test(line)) ?? "ssh failed";
  return { end: { kind: "lost", reason: says }, refusal: says };
}

/** The process that holds the connection closes its socket first when it ends. */
function isHeld({ controlPath }: Held): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(controlPath, () => {
      socket.destroy();
      resolve(true);
    });
    socket.once("error", (error: NodeJS.ErrnoException) => {
      resolve(error.code !== "ENOENT" && error.code !== "ECONNREFUSED");
    });
  });
}
