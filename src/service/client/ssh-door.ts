// The door to the service of an account on another computer: its own socket there, through ssh. Nothing listens on a port, and what
// may come in is decided by ssh. The link is made again when it is lost.

import type { Duplex } from "node:stream";
import { UserError } from "../../errors.js";
import { bridgeTo, findNote } from "../../remote/service/find-service.js";
import { raceAbort } from "../../transport/aborted.js";
import { ConnectError } from "../../transport/connect-error.js";
import { quoteIfNeeded } from "../../transport/quote.js";
import type { Session } from "../../transport/session.js";
import { checkVersion, type Dialled, type Door, LostLink } from "./service-door.js";
import { parseServiceFile, type ServiceFile } from "./service-file.js";

export interface SshWay {
  /** As typed: user@host. */
  readonly name: string;
  /** Throws ConnectError. */
  connect(): Promise<Session>;
  /** Reports that the link is lost, and that it is there again. */
  onNote(message: string): void;
}

const PATIENCE_MS = 30_000;
/** Bridges are scripts, of which a connection has at most eight. */
const MOST_BRIDGES = 7;
/** What takes longer, after a loss, may have lost packets: a new connection is faster once the link is back. */
const SLOW_MS = 3000;
const AT_ONCE = 3;
const READY_MS = 5000;

export function sshDoor(way: SshWay): Door {
  const { name } = way;
  const links = new Links(way);
  const at = ` of ${name}`;
  return {
    at,
    startCommand: `ssh ${quoteIfNeeded(name)} sshoal serve`,
    isHere: false,
    headers: { host: "sshoal" },
    patienceMs: PATIENCE_MS,
    async dial(signal) {
      const link = await links.take(signal);
      return link.dial(at, signal);
    },
    close: () => links.close(),
  };
}

/** Where sshd lets us at the socket, one connection carries everything. Bridges may need several. */
class Links {
  readonly #way: SshWay;
  readonly #open = new Set<Link>();
  #connecting: Promise<Link> | null = null;
  #connectingSince = 0;
  #hasConnected = false;
  #isLost = false;

  constructor(way: SshWay) {
    this.#way = way;
  }

  async take(signal?: AbortSignal): Promise<Link> {
    const free = [...this.#open].find((link) => !link.isFull && !link.isStuck);
    if (free !== undefined) return free;
    // It is for all that wait for a link, so no signal of one ends it.
    const isSlow = this.#hasConnected && performance.now() - this.#connectingSince > SLOW_MS;
    if (this.#connecting === null || isSlow) {
      const connecting = this.#connect().finally(() => {
        if (this.#connecting === connecting) this.#connecting = null;
      });
      this.#connecting = connecting;
      this.#connectingSince = performance.now();
    }
    return unlessAborted(this.#connecting, signal);
  }

  close(): void {
    for (const link of this.#open) link.close();
  }

  async #connect(): Promise<Link> {
    const { name, connect, onNote } = this.#way;
    try {
      const session = await connect();
      if (this.#isLost) onNote(`${name} is reachable again`);
      this.#isLost = false;
      this.#hasConnected = true;
      const link = new Link(session, name);
      this.#open.add(link);
      void session.gone.then(() => this.#open.delete(link));
      return link;
    } catch (error) {
      if (!(error instanceof ConnectError)) throw error;
      const { message, hint, isRetryable } = error;
      if (!this.#hasConnected || !isRetryable) throw new UserError(message, { hint, cause: error });
      if (!this.#isLost) onNote(`the link to ${name} is lost, and is tried again: ${message}`);
      this.#isLost = true;
      throw new LostLink(message, { cause: error });
    }
  }
}

/** One ssh connection. */
class Link {
  readonly #session: Session;
  readonly #name: string;
  #service: ServiceFile | null = null;
  /** Whether sshd connects to sockets; null: not known yet. */
  #forwards: boolean | null;
  #bridges = 0;
  /** When each dial began that has no answer yet. */
  readonly #waiting = new Set<{ readonly since: number }>();
  #ready: Promise<Duplex | null>[] = [];

  constructor(session: Session, name: string) {
    this.#session = session;
    this.#name = name;
    this.#forwards = session.openSocket === undefined ? false : null;
  }

  get isFull(): boolean {
    return this.#bridges >= MOST_BRIDGES;
  }

  /** It may be half open. */
  get isStuck(): boolean {
    return [...this.#waiting].some(({ since }) => performance.now() - since > SLOW_MS);
  }

  close(): void {
    void this.#session.close();
  }

  /** Null: no service listens. */
  async dial(at: string, signal?: AbortSignal): Promise<Dialled | null> {
    const mine = { since: performance.now() };
    this.#waiting.add(mine);
    return this.#dial(at, signal).finally(() => this.#waiting.delete(mine));
  }

  async #dial(at: string, signal?: AbortSignal): Promise<Dialled | null> {
    const service = this.#service ?? (await this.#find(signal));
    if (service === null) return null;
    checkVersion(service, at);
    const socket = await unlessAborted(this.#open(service), signal);
    // It may have another socket when it is back.
    this.#service = socket === null ? null : service;
    return socket && { service, socket };
  }

  async #find(signal?: AbortSignal): Promise<ServiceFile | null> {
    const found = await orUserError(findNote(this.#session, signal));
    switch (found.kind) {
      case "found": {
        const service = parseServiceFile(found.text);
        if (service === null)
          throw new UserError(`${this.#name}: its note does not describe a queue service`, {
            hint: `ssh ${quoteIfNeeded(this.#name)} sshoal serve restart`,
          });
        return service;
      }
      case "none":
        return null;
      case "foreign":
        throw new UserError(
          `${this.#name}: ${found.path} is not used, because it is not of this account alone`,
          {
            hint: `look at it, then remove it: ssh ${quoteIfNeeded(this.#name)} ls -l ${found.path}`,
          },
        );
      case "lost":
        throw new LostLink(found.reason);
      case "failed":
        throw new UserError(`${this.#name}: the queue service cannot be looked for: ${found.reason}`, {
          hint: `try it yourself: ssh ${quoteIfNeeded(this.#name)} true`,
        });
      default:
        return found satisfies never;
    }
  }

  async #open(service: ServiceFile): Promise<Duplex | null> {
    if (this.#forwards === false) return this.#bridge(service);
    // Most commands ask a few times. Connections that are made with the first one save a round trip each.
    if (this.#forwards === null) this.#ready = Array.from({ length: AT_ONCE }, () => this.#forward(service));
    if (this.#forwards === null) setTimeout(() => this.#dropReady(), READY_MS).unref();
    const socket = (await this.#takeReady()) ?? (await this.#forward(service));
    // The same answer means that sshd does not allow it, or that nothing listens.
    if (socket === null) return this.#forwards === true ? null : this.#bridge(service);
    this.#forwards = true;
    return socket;
  }

  /** Null: none is left that still leads to a service. */
  async #takeReady(): Promise<Duplex | null> {
    for (let next = this.#ready.shift(); next !== undefined; next = this.#ready.shift()) {
      const socket = await next;
      if (socket?.writable) return socket;
      socket?.destroy();
    }
    return null;
  }

  /** Later they may belong to a service that has ended. */
  #dropReady(): void {
    for (const each of this.#ready.splice(0)) void each.then((socket) => socket?.destroy());
  }

  async #forward({ socket }: ServiceFile): Promise<Duplex | null> {
    return (await this.#session.openSocket?.(socket).catch(() => null)) ?? null;
  }

  async #bridge({ socket, node }: ServiceFile): Promise<Duplex | null> {
    this.#bridges++;
    const bridged = await orUserError(bridgeTo(this.#session, socket, node)).catch((error: unknown) => {
      this.#bridges--;
      throw error;
    });
    if (bridged.kind === "open") {
      this.#forwards = false;
      bridged.socket.once("close", () => this.#bridges--);
      return bridged.socket;
    }
    this.#bridges--;
    if (bridged.kind === "lost") throw new LostLink(bridged.reason);
    return null;
  }
}

/** A login may work where no command does. */
async function orUserError<T>(work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    if (!(error instanceof ConnectError)) throw error;
    throw new UserError(error.message, { hint: error.hint, cause: error });
  }
}

async function unlessAborted<T>(work: Promise<T>, signal?: AbortSignal): Promise<T> {
  const abort = raceAbort(signal);
  return abort.race(work).finally(() => abort.done());
}
