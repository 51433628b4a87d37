// A Session over ssh2. What ssh2 leaves off unless told is decided here: the host key is always checked, dead links are
// noticed by keepalives, and Nagle's algorithm is off (with it every exec takes 40 ms more).

import { connect as connectTcp, type Socket } from "node:net";
import ssh2, { type AnyAuthMethod, type Client, type ServerHostKeyAlgorithm } from "ssh2";
import { raceAbort } from "./aborted.js";
import { type Login, loadLogin } from "./auth.js";
import { ConnectError, type SshAddress } from "./connect-error.js";
import { deferred } from "./deferred.js";
import { type HostKeyCheck, loadHostKeyCheck } from "./known-hosts-file.js";
import type { Session } from "./session.js";
import { explainHandshake, explainSocket } from "./ssh2-errors.js";
import { Ssh2Session } from "./ssh2-session.js";

export interface Ssh2Options {
  /** Where .ssh is. */
  readonly homeDir: string;
  /** Of the ssh agent; null: there is none. */
  readonly agentSocket: string | null;
  /** Host keys seen for the first time are told here. */
  readonly onNote: (message: string) => void;
  readonly systemKnownHosts?: readonly string[];
  readonly timeouts?: Partial<Timeouts>;
}

export interface Timeouts {
  readonly tcpMs: number;
  /** From the open TCP connection until logged in. */
  readonly readyMs: number;
  /** Three unanswered in a row: the link is lost. */
  readonly keepaliveMs: number;
}

const TIMEOUTS: Timeouts = { tcpMs: 10_000, readyMs: 20_000, keepaliveMs: 15_000 };

/** Rejects with a ConnectError, or with the signal's reason. Makes exactly one connection. */
export async function connectSsh2(
  address: SshAddress,
  options: Ssh2Options,
  signal?: AbortSignal,
): Promise<Session> {
  signal?.throwIfAborted();
  const timeouts = { ...TIMEOUTS, ...options.timeouts };
  const [login, hostKeys] = await Promise.all([
    loadLogin(address, options),
    loadHostKeyCheck(address, options),
  ]);
  const abort = raceAbort(signal);
  let socket: Socket | undefined;
  try {
    socket = connectTcp({ host: address.host, port: address.port, noDelay: true });
    await abort.race(openSocket(socket, address, timeouts.tcpMs));
    const client = new ssh2.Client();
    const session = new Ssh2Session(client, socket, address);
    await abort.race(shakeHands(client, { socket, address, login, hostKeys, timeouts }));
    return session;
  } catch (error) {
    socket?.destroy();
    throw error;
  } finally {
    abort.done();
  }
}

async function openSocket(socket: Socket, address: SshAddress, timeoutMs: number): Promise<void> {
  const { promise, resolve, reject } = deferred<void>();
  socket.on("connect", resolve).on("error", reject);
  const tooLong = Object.assign(new Error(`no answer within ${timeoutMs} ms`), { code: "ETIMEDOUT" });
  const timer = setTimeout(reject, timeoutMs, tooLong);
  try {
    await promise;
  } catch (error) {
    throw explainSocket(error, address);
  } finally {
    clearTimeout(timer);
  }
}

interface Handshake {
  readonly socket: Socket;
  readonly address: SshAddress;
  readonly login: Login;
  readonly hostKeys: HostKeyCheck;
  readonly timeouts: Timeouts;
}

async function shakeHands(client: Client, handshake: Handshake): Promise<void> {
  const { socket, address, login, hostKeys, timeouts } = handshake;
  const { promise: ready, resolve, reject } = deferred<void>();
  let hasGreeted = false;
  client
    .on("ready", resolve)
    .once("handshake", () => {
      hasGreeted = true;
    })
    .on("error", (error) => {
      // ssh2 goes on with the next key when the agent, or one key, cannot sign.
      if (error.level !== "agent" && !error.message.startsWith("Error signing")) reject(error);
    })
    .on("close", () => reject(new Error("Connection lost during the handshake")));
  const isTrusted = (key: Buffer): boolean => {
    try {
      hostKeys.check(key);
      return true;
    } catch (error) {
      reject(error);
      return false;
    }
  };
  client.connect({
    sock: socket,
    username: address.username,
    authHandler: nextOf(login.methods),
    hostVerifier: isTrusted,
    algorithms: { serverHostKey: hostKeys.algorithms as ServerHostKeyAlgorithm[] },
    readyTimeout: timeouts.readyMs,
    keepaliveInterval: timeouts.keepaliveMs,
    keepaliveCountMax: 3,
  });
  try {
    await ready;
  } catch (error) {
    throw error instanceof ConnectError ? error : explainHandshake(error, { address, login, hasGreeted });
  } finally {
    if (hasGreeted) await hostKeys.remember();
  }
}

/** One key after the other on one connection; false, which the types leave out, ends it. */
function nextOf(methods: readonly AnyAuthMethod[]): () => AnyAuthMethod {
  const left = [...methods];
  return () => left.shift() ?? (false as unknown as AnyAuthMethod);
}
