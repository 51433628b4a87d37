// A Session over ssh2. Sets what ssh2 does not do by default: the host key is always checked, keepalives detect dead
// connections, and Nagle's algorithm is off (it adds 40 ms to every exec).

import { connect as connectTcp, type Socket } from "node:net";
import type { Duplex } from "node:stream";
import ssh2, { type Client, type ServerHostKeyAlgorithm } from "ssh2";
import { raceAbort } from "../aborted.js";
import { describeTarget, type SshTarget, sshCommand } from "../config/target.js";
import { ConnectError } from "../connect-error.js";
import { deferred } from "../deferred.js";
import type { Ask } from "../login/ask-person.js";
import { loadLogin } from "../login/auth.js";
import type { Login } from "../login/key-login.js";
import type { KeyRing } from "../login/key-ring.js";
import { fingerprint, keyType } from "../trust/known-hosts.js";
import { type HostKeyCheck, loadHostKeyCheck } from "../trust/known-hosts-file.js";
import { saveTrips } from "./fewer-trips.js";
import { gatherWrites } from "./gather-writes.js";
import { explainForward, explainHandshake, explainSocket } from "./ssh2-errors.js";
import { type SessionPlace, Ssh2Session } from "./ssh2-session.js";

export interface Ssh2Options {
  /** Why ssh2 is used; null: it is the default. */
  readonly why: string | null;
  readonly ask: Ask | null;
  readonly keys: KeyRing;
  /** Reports host keys that are seen for the first time. */
  readonly onNote: (message: string) => void;
  /** The session with the last hop before the target; null: it is reached directly. */
  readonly jump: Ssh2Session | null;
}

/** From the key exchange until the login; the time a person takes to answer does not count. */
const LOGIN_WITHIN_MS = 20_000;

/** Rejects with a ConnectError, or with the signal's reason. Makes exactly one connection. */
export async function connectSsh2(
  target: SshTarget,
  options: Ssh2Options,
  signal?: AbortSignal,
): Promise<Ssh2Session> {
  signal?.throwIfAborted();
  const [login, hostKeys] = await Promise.all([
    loadLogin(target, options),
    loadHostKeyCheck(target, options),
  ]);
  const abort = raceAbort(signal);
  const opening = options.jump === null ? openSocket(target) : openForward(options.jump, target);
  try {
    const socket = await abort.race(opening.opened);
    gatherWrites(socket);
    const client = new ssh2.Client();
    const session = new Ssh2Session(client, socket, placeOf(target));
    const hostKey = await abort.race(shakeHands(client, { socket, target, login, hostKeys }));
    const via = options.jump === null ? [] : [...options.jump.about.via, options.jump.alias];
    session.about = { transport: "ssh2", why: options.why, login: login.accepted(), hostKey, via };
    return session;
  } catch (error) {
    opening.cancel();
    throw error;
  } finally {
    abort.done();
  }
}

/**
 * Stock sshd allows ten sessions per connection. It counts an ended one for a moment longer, and one that this side
 * closed until its script has ended.
 */
const MOST_CHANNELS = 8;

function placeOf(target: SshTarget): SessionPlace {
  const { alias } = target;
  const tryIt = `${sshCommand(target)} true`;
  return { alias, described: describeTarget(target), tryIt, mostChannels: MOST_CHANNELS };
}

interface Opening {
  readonly opened: Promise<Duplex>;
  cancel(): void;
}

function openSocket(target: SshTarget): Opening {
  const { host, port, addressFamily: family, connectTimeoutMs } = target;
  // For a name with several addresses Node waits a quarter of a second per address, too little for a distant host.
  const autoSelectFamilyAttemptTimeout = connectTimeoutMs / 4;
  const socket = connectTcp({ host, port, family, noDelay: true, autoSelectFamilyAttemptTimeout });
  const { promise, resolve, reject } = deferred<Socket>();
  socket.once("connect", () => resolve(socket)).on("error", reject);
  const opened = withinTimeout(promise, target).catch((error) => {
    throw explainSocket(error, target);
  });
  return { opened, cancel: () => socket.destroy() };
}

function openForward(jump: Ssh2Session, target: SshTarget): Opening {
  const channel = jump.forward(target.host, target.port);
  const opened = withinTimeout(channel, target).catch((error) => {
    throw isTimeout(error) ? explainSocket(error, target) : explainForward(error, target);
  });
  const cancel = () =>
    channel.then(
      (stream) => stream.destroy(),
      () => {},
    );
  return { opened, cancel };
}

async function withinTimeout<T>(work: Promise<T>, { connectTimeoutMs }: SshTarget): Promise<T> {
  const { promise: tooLong, reject } = deferred<never>();
  const error = Object.assign(new Error(`no answer within ${connectTimeoutMs} ms`), { code: "ETIMEDOUT" });
  const timer = setTimeout(reject, connectTimeoutMs, error);
  return Promise.race([work, tooLong]).finally(() => clearTimeout(timer));
}

function isTimeout(error: unknown): boolean {
  return (error as { code?: unknown }).code === "ETIMEDOUT";
}

interface Handshake {
  readonly socket: Duplex;
  readonly target: SshTarget;
  readonly login: Login;
  readonly hostKeys: HostKeyCheck;
}

/** Resolves with the host key, in words. */
async function shakeHands(client: Client, handshake: Handshake): Promise<string> {
  const { socket, target, login, hostKeys } = handshake;
  const { promise: ready, resolve, reject } = deferred<void>();
  let hasGreeted = false;
  let hostKey = "";
  const timer = startTimer(target.connectTimeoutMs, login, reject);
  client
    .on("ready", resolve)
    .once("handshake", () => {
      hasGreeted = true;
      timer.restart(LOGIN_WITHIN_MS);
    })
    .on("error", (error) => {
      // If the agent or one key cannot sign, ssh2 continues with the next key.
      if (error.level !== "agent" && !error.message.startsWith("Error signing")) reject(error);
    })
    .on("close", () => reject(new Error("Connection lost during the handshake")));
  const isTrusted = (key: Buffer): boolean => {
    try {
      hostKeys.check(key);
      hostKey = `${keyType(key)} ${fingerprint(key)}`;
      return true;
    } catch (error) {
      reject(error);
      return false;
    }
  };
  client.connect({
    sock: socket,
    username: target.username,
    authHandler: login.next,
    hostVerifier: isTrusted,
    algorithms: { serverHostKey: hostKeys.algorithms as ServerHostKeyAlgorithm[] },
    readyTimeout: 0,
    keepaliveInterval: target.keepaliveMs,
    keepaliveCountMax: target.keepaliveCount,
  });
  saveTrips(client, login.shortcuts);
  try {
    await ready;
    return hostKey;
  } catch (error) {
    throw error instanceof ConnectError ? error : explainHandshake(error, { target, login, hasGreeted });
  } finally {
    timer.stop();
    if (hasGreeted) await hostKeys.remember();
  }
}

function startTimer(firstMs: number, login: Login, onTime: (error: Error) => void) {
  let timer: NodeJS.Timeout;
  const restart = (ms: number) => {
    clearTimeout(timer);
    timer = setTimeout(() => {
      if (login.isAsking()) restart(ms);
      else onTime(Object.assign(new Error(`not done within ${ms} ms`), { level: "client-timeout" }));
    }, ms);
  };
  restart(firstMs);
  return { restart, stop: () => clearTimeout(timer) };
}
