// A Session on an ssh2 client: as many channels as the server allows, each running one script.

import type { Duplex } from "node:stream";
import pLimit, { type LimitFunction } from "p-limit";
import type { Client, ClientChannel } from "ssh2";
import { ConnectError } from "../connect-error.js";
import { deferred } from "../deferred.js";
import { LOGIN_SHELL_WORDS, wordsWithScript } from "../script/bootstrap.js";
import { lostRunning } from "../script/lost-running.js";
import { SpareShells } from "../script/spare-shells.js";
import { awaitScript, makeNonce, startScript } from "../script/start-script.js";
import type { About, Running, Session } from "../session.js";
import { plainDuplex } from "./plain-duplex.js";
import { type WrappedChannel, wrapChannel } from "./ssh2-channel.js";

/** What messages say of the machine. */
export interface SessionPlace {
  /** As people call it. */
  readonly alias: string;
  /** With where it is. */
  readonly described: string;
  /** A command that shows whether it runs scripts. */
  readonly tryIt: string;
  /** The most channels at a time. */
  readonly mostChannels: number;
}

const OPEN_WITHIN_MS = 10_000;
const FIRST_BACKOFF_MS = 20;
const LAST_BACKOFF_MS = 320;
const POLITE_CLOSE_MS = 1000;

/** Made before the client connects, so that no event is missed. Owns the client and its socket. */
export class Ssh2Session implements Session {
  /** Known after the login. */
  about: About = { transport: "ssh2", why: null, login: null, hostKey: null, via: [] };
  readonly gone: Promise<string>;
  readonly #client: Client;
  readonly #socket: Duplex;
  readonly #place: SessionPlace;
  readonly #limit: LimitFunction;
  readonly #channels = new Set<WrappedChannel>();
  readonly #spares: SpareShells;
  #goneReason: string | null = null;
  #closing: Promise<void> | null = null;

  constructor(client: Client, socket: Duplex, place: SessionPlace) {
    this.#client = client;
    this.#socket = socket;
    this.#place = place;
    this.#limit = pLimit(place.mostChannels);
    const gone = deferred<string>();
    this.gone = gone.promise;
    this.#spares = new SpareShells(() => this.#openInTurn(() => openChannel(client, LOGIN_SHELL_WORDS)));
    let lastError = "the machine closed the connection";
    client.on("error", (error) => {
      lastError = error.message;
    });
    client.on("close", () => {
      this.#goneReason ??= lastError;
      for (const channel of this.#channels) channel.lose(this.#goneReason);
      gone.resolve(this.#goneReason);
    });
  }

  /** The name that people use for the machine. */
  get alias(): string {
    return this.#place.alias;
  }

  async exec(script: string, readsNothing = false): Promise<Running> {
    const begun = readsNothing && !this.#spares.isAnyOpen ? await this.#execAtOnce(script) : null;
    return begun ?? this.#execInShell(script);
  }

  /** Starts a shell with the script in its words, which saves a round trip. Null: the script did not begin. */
  async #execAtOnce(script: string): Promise<Running | null> {
    const nonce = makeNonce();
    const words = wordsWithScript(script, nonce);
    if (words === null) return null;
    const channel = await this.#openInTurn(() => openChannel(this.#client, words)).catch(() => null);
    return channel && awaitScript(channel.running, nonce);
  }

  async #execInShell(script: string): Promise<Running> {
    const channel = (await this.#spares.take()) ?? (await this.#openInTurn(() => this.#open()));
    if (channel === null) return lostRunning(this.#goneReason ?? "not connected");
    return startScript(channel.running, script);
  }

  makeReady(count: number): void {
    this.#spares.fill(count);
  }

  /** A connection from the machine to another host. sshd does not count it as a session. */
  forward(host: string, port: number): Promise<Duplex> {
    return new Promise((resolve, reject) => {
      const open = (error: Error | undefined, channel: Duplex) => (error ? reject(error) : resolve(channel));
      this.#client.forwardOut("127.0.0.1", 0, host, port, open);
    });
  }

  openSocket(path: string): Promise<Duplex> {
    return new Promise((resolve, reject) => {
      this.#client.openssh_forwardOutStreamLocal(path, (error, channel) =>
        error ? reject(error) : resolve(plainDuplex(channel, () => channel.close())),
      );
    });
  }

  /**
   * Resolves when the message is sent, with everything written before it: waiting for an answer would take another
   * round trip.
   */
  close(): Promise<void> {
    this.#closing ??= this.#sayGoodbye();
    return this.#closing;
  }

  async #sayGoodbye(): Promise<void> {
    this.#goneReason ??= "closed on this side";
    // ssh2's own destroy() does nothing after end() was called.
    const timer = setTimeout(() => this.#socket.destroy(), POLITE_CLOSE_MS);
    void this.gone.then(() => clearTimeout(timer));
    const sent = deferred<void>();
    this.#socket.once("finish", sent.resolve);
    this.#client.end();
    await Promise.race([sent.promise, this.gone]);
  }

  /** Null if the connection is gone. A channel counts as one of the most until it is closed. */
  #openInTurn(open: () => Promise<ClientChannel | null>): Promise<WrappedChannel | null> {
    const opened = deferred<WrappedChannel | null>();
    const openAndHold = async () => {
      const channel = await open();
      if (channel === null) return opened.resolve(null);
      const wrapped = wrapChannel(channel, this.#socket);
      this.#channels.add(wrapped);
      opened.resolve(wrapped);
      await wrapped.closed;
      this.#channels.delete(wrapped);
    };
    this.#limit(openAndHold).catch(opened.reject);
    return opened.promise;
  }

  /** Null if the connection is gone. */
  async #open(): Promise<ClientChannel | null> {
    const deadline = performance.now() + OPEN_WITHIN_MS;
    for (let backoffMs = FIRST_BACKOFF_MS; ; backoffMs = Math.min(2 * backoffMs, LAST_BACKOFF_MS)) {
      try {
        return await openChannel(this.#client, LOGIN_SHELL_WORDS);
      } catch (error) {
        if (this.#goneReason !== null || !this.#socket.writable) return null;
        if (!isRefusedForNow(error) || performance.now() > deadline) throw this.#refused(error);
        await sleep(backoffMs * (0.5 + Math.random()));
      }
    }
  }

  #refused(error: unknown): ConnectError {
    const what = isRefusedForNow(error)
      ? "allows no further session on this connection (MaxSessions in its sshd_config)"
      : `does not run commands: ${(error as Error).message}`;
    return new ConnectError("no-session", `${this.#place.described}: ${what}`, {
      hint: `try it yourself: ${this.#place.tryIt}`,
      cause: error,
    });
  }
}

function sleep(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

/** ssh2's exec throws if the connection is already gone, and calls back with every other error. */
function openChannel(client: Client, words: string): Promise<ClientChannel> {
  return new Promise((resolve, reject) => {
    client.exec(words, (error, channel) => (error ? reject(error) : resolve(channel)));
  });
}

/** "Connect failed" is sshd's answer beyond MaxSessions. */
function isRefusedForNow(error: unknown): boolean {
  return (error as { reason?: unknown }).reason === 2;
}
