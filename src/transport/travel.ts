// Connects to a machine through its jump hosts. Connections to jump hosts are shared: one connection serves every
// machine behind it.

import { describeTarget, type SshTarget } from "./config/target.js";
import { ConnectError } from "./connect-error.js";
import type { Gate } from "./gate.js";
import type { Session } from "./session.js";
import { type Lease, type Shareable, Shared } from "./shared.js";
import { stopsOf, type Way } from "./way.js";

interface Leg<S> {
  readonly target: SshTarget;
  /** The session with the previous stop; null: directly. */
  readonly jump: S | null;
  readonly why: string | null;
}

/** Makes one connection. */
type ConnectLeg<S> = (leg: Leg<S>, signal?: AbortSignal) => Promise<S>;

/** A stop that was reached. Closing it releases its share of the previous stop. */
interface Reached<S> extends Shareable {
  readonly session: S;
}

export class Travel<S extends Session> {
  readonly #gate: Gate;
  readonly #connect: ConnectLeg<S>;
  readonly #hops = new Shared<Reached<S>>();

  constructor(gate: Gate, connect: ConnectLeg<S>) {
    this.#gate = gate;
    this.#connect = connect;
  }

  async to(way: Way, why: string | null, signal?: AbortSignal): Promise<Session> {
    const { session, close } = await this.#reach(way, why, signal);
    const { openSocket } = session;
    return {
      about: session.about,
      gone: session.gone,
      exec: (script, readsNothing) => session.exec(script, readsNothing),
      makeReady: (count) => session.makeReady?.(count),
      ...(openSocket && { openSocket: (path: string) => openSocket.call(session, path) }),
      close,
    };
  }

  async #reach({ target, before }: Way, why: string | null, signal?: AbortSignal): Promise<Reached<S>> {
    const lease = before === null ? null : await this.#lease(before, target, signal);
    try {
      const leg = { target, why, jump: lease?.shared.session ?? null };
      const session = await this.#gate.pass(doorOf(target), () => this.#connect(leg, signal), signal);
      void session.gone.then(() => lease?.release());
      const close = async () => {
        await session.close();
        await lease?.release();
      };
      return { session, gone: session.gone, close };
    } catch (error) {
      await lease?.release();
      throw error;
    }
  }

  async #lease(way: Way, target: SshTarget, signal?: AbortSignal): Promise<Lease<Reached<S>>> {
    const name = JSON.stringify(stopsOf(way));
    try {
      return await this.#hops.lease(name, (own) => this.#reach(way, null, own), signal);
    } catch (error) {
      throw error instanceof ConnectError ? onTheWay(error, target) : error;
    }
  }
}

/** Equal ProxyCommands most likely lead to the same host. */
function doorOf({ host, port, proxyCommand }: SshTarget): string {
  return proxyCommand ?? `${host}:${port}`;
}

function onTheWay(error: ConnectError, target: SshTarget): ConnectError {
  const { kind, message, hint, opensshReason } = error;
  return new ConnectError(kind, `${describeTarget(target)}: ${message}`, {
    hint,
    opensshReason,
    cause: error,
  });
}
