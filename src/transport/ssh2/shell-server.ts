// Serves a shell over one stream, as sshd does: to one client, which must have the agreed key. Only scripts can be run: no
// terminal, no files, no forwarding.

import { type ChildProcess, spawn } from "node:child_process";
import type { Socket } from "node:net";
import type { Duplex } from "node:stream";
import ssh2, { type AuthContext, type Connection, type ServerChannel, type Session } from "ssh2";
import { orAfter, raceAbort } from "../aborted.js";
import { deferred } from "../deferred.js";
import { gatherWrites } from "./gather-writes.js";
import { KEEPALIVE } from "./keepalive.js";
import type { OneTimeKey } from "./one-time-key.js";

export interface LoginShell {
  /** Of the account; it runs the words that the client sends. */
  readonly path: string;
  readonly env: Readonly<Record<string, string>>;
}

export interface ShellServing {
  /** Owned from now on. */
  readonly stream: Duplex;
  readonly hostKey: OneTimeKey;
  /** The public key of the only client that may log in. */
  readonly clientKey: Buffer;
  readonly shell: LoginShell;
}

export interface ServedShell {
  /** Resolves with the reason when the connection is gone. */
  readonly gone: Promise<string>;
  close(): void;
}

const LOGIN_WITHIN_MS = 10_000;

/** Resolves when the client has logged in. Rejects if it does not, or with the signal's reason. */
export async function serveShell(serving: ShellServing, signal: AbortSignal): Promise<ServedShell> {
  const { stream, hostKey, clientKey, shell } = serving;
  gatherWrites(stream);
  const ready = deferred<void>();
  const gone = deferred<string>();
  let reason = "the service closed the connection";
  const end = (error: Error) => {
    reason = "syscall" in error ? "the connection is broken" : error.message;
    // A connection that is half open never ends by itself.
    stream.destroy();
  };
  // A channel of ssh stays open for writing.
  stream.once("end", () => stream.destroy());
  stream.once("close", () => {
    ready.reject(new Error(reason));
    gone.resolve(reason);
  });
  ready.promise.catch(() => {});
  const server = new ssh2.Server({ hostKeys: [hostKey.privatePem], ...KEEPALIVE }, (client) => {
    client.setMaxListeners(0);
    client.on("error", end);
    client.on("authentication", (context) => judge(context, clientKey));
    client.once("ready", ready.resolve);
    client.on("session", (accept) => serveSession(accept(), client, shell));
  });
  server.on("error", end);
  server.injectSocket(stream as Socket);
  const abort = raceAbort(orAfter(signal, LOGIN_WITHIN_MS));
  try {
    await abort.race(ready.promise);
  } catch (error) {
    stream.destroy();
    throw error;
  } finally {
    abort.done();
  }
  return { gone: gone.promise, close: () => stream.destroy() };
}

function judge(context: AuthContext, clientKey: Buffer): void {
  if (context.method !== "publickey") return context.reject(["publickey"]);
  const known = ssh2.utils.parseKey(clientKey);
  if (known instanceof Error || !context.key.data.equals(clientKey)) return context.reject();
  const { blob, signature, hashAlgo } = context;
  // Without a signature, the client only asks whether the key is accepted.
  if (signature === undefined || blob === undefined) return context.accept();
  if (known.verify(blob, signature, hashAlgo) === true) context.accept();
  else context.reject();
}

function serveSession(session: Session, client: Connection, shell: LoginShell): void {
  session.once("exec", (accept, _reject, { command }) => {
    const child = spawn(shell.path, ["-c", command], {
      cwd: "/", // the script itself enters its home, and reports if it cannot
      env: { ...shell.env },
      // In its own session: Ctrl-C at the terminal reaches every process of the foreground group, but not these.
      detached: true,
    });
    const channel = accept();
    joinStreams(child, channel);
    const cut = () => {
      for (const stream of [child.stdin, child.stdout, child.stderr]) stream?.destroy();
      // What was sent to it and never read would keep the channel.
      channel.unpipe();
      channel.resume();
      child.unref();
    };
    session.once("close", cut);
    client.once("close", cut);
    child.once("close", () => client.off("close", cut));
  });
}

function joinStreams(child: ChildProcess, channel: ServerChannel): void {
  const { stdin, stdout, stderr } = child;
  if (stdin === null || stdout === null || stderr === null) throw new Error("a child without streams");
  for (const stream of [stdin, stdout, stderr, channel, channel.stderr]) stream.on("error", () => {});
  channel.pipe(stdin);
  stdout.pipe(channel, { end: false });
  stderr.pipe(channel.stderr, { end: false });
  child.once("error", (error) => channel.stderr.write(`cannot start a shell: ${error.message}\n`));
  child.once("close", (code, signal) => {
    // Ending the channel closes it, also for what is left of stderr.
    channel.stderr.end(() => {
      if (signal === null) channel.exit(code === null || code < 0 ? NOT_STARTED : code);
      else channel.exit(signal);
      channel.end();
    });
  });
}

/** As of a shell that cannot run a command. */
const NOT_STARTED = 126;
