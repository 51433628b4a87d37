// The machines that have joined: the connection that each has opened, by name. Batches share it, and wait a moment for one
// that comes back.

import type { Duplex } from "node:stream";
import type { JoinAsk } from "../../api/queue-service.js";
import { UserError } from "../../errors.js";
import { borrow } from "../../fleet/borrowed-session.js";
import { raceAbort } from "../../transport/aborted.js";
import { ConnectError } from "../../transport/connect-error.js";
import { deferred } from "../../transport/deferred.js";
import { runScript } from "../../transport/script/run-script.js";
import type { Session } from "../../transport/session.js";

export interface OpenDoor {
  /** The public key that the machine must accept. */
  readonly key: Buffer;
  /** Resolves when the machine can be used. Rejects if it lets us not in, or if its name was taken meanwhile. */
  take(stream: Duplex): Promise<Session>;
}

interface Link {
  readonly process: string;
  readonly session: Session;
}

/** How long a batch waits for a machine that was away, before it reports that it is lost. */
const WAIT_MS = 10_000;
/** A living machine answers sooner. */
const PING_MS = 3000;

export class JoinedMachines {
  readonly #links = new Map<string, Link>();
  readonly #awaited = new Map<string, Set<() => void>>();
  /** Processes whose machine a user has removed. */
  readonly #dismissed = new Set<string>();

  isHere(name: string): boolean {
    return this.#links.has(name);
  }

  /** Throws UserError if a living machine of another process has the name, or if a user has removed this one. */
  async admit({ name, process, hostKey }: JoinAsk): Promise<OpenDoor> {
    if (this.#dismissed.has(process))
      throw new UserError(`the machine ${name} was removed from its queues`, {
        hint: "sshoal join again, to add it again",
      });
    const link = this.#links.get(name);
    if (link !== undefined && link.process !== process && (await isAlive(link.session))) throw taken(name);
    const [{ makeOneTimeKey }, { connectOverStream }] = await Promise.all([
      import("../../transport/ssh2/one-time-key.js"),
      import("../../transport/ssh2/ssh2-over-stream.js"),
    ]);
    const key = makeOneTimeKey();
    return {
      key: key.publicKey,
      take: async (stream) => {
        const session = await connectOverStream({ stream, name, hostKey, key });
        // Another one may have been faster.
        if (this.#links.get(name) !== link && this.#links.has(name)) {
          await session.close();
          throw taken(name);
        }
        this.#note(name, { process, session });
        return session;
      },
    };
  }

  /** Each caller can close its session without an end of the connection. Rejects if the machine stays away. */
  async connect(name: string, signal?: AbortSignal): Promise<Session> {
    const link = this.#links.get(name) ?? (await this.#next(name, signal));
    const lease = { shared: link.session, release: async () => false, retire: () => {} };
    return borrow(lease).session;
  }

  /** Ends its connection for good: its process may not come back with it. */
  dismiss(name: string): void {
    const link = this.#links.get(name);
    if (link === undefined) return;
    this.#dismissed.add(link.process);
    void link.session.close();
  }

  #note(name: string, link: Link): void {
    const before = this.#links.get(name);
    this.#links.set(name, link);
    // It is half open at best, since its process has dialled again or does not answer.
    void before?.session.close();
    void link.session.gone.then(() => {
      if (this.#links.get(name) === link) this.#links.delete(name);
    });
    for (const wake of this.#awaited.get(name) ?? []) wake();
    this.#awaited.delete(name);
  }

  async #next(name: string, signal?: AbortSignal): Promise<Link> {
    const arrived = deferred<void>();
    const waiting = this.#awaited.get(name) ?? new Set();
    this.#awaited.set(name, waiting.add(arrived.resolve));
    const abort = raceAbort(signal);
    const timer = setTimeout(arrived.resolve, WAIT_MS);
    try {
      await abort.race(arrived.promise);
    } finally {
      abort.done();
      clearTimeout(timer);
      waiting.delete(arrived.resolve);
    }
    const link = this.#links.get(name);
    if (link !== undefined) return link;
    throw new ConnectError("unreachable", awayWords(name), { hint: "on that machine: sshoal join" });
  }
}

export function awayWords(name: string): string {
  return `${name} has no link to the queue service now`;
}

function taken(name: string): UserError {
  return new UserError(`a machine named ${name} has joined already`, {
    hint: `sshoal join --name OTHER-NAME, or end the other one`,
  });
}

async function isAlive(session: Session): Promise<boolean> {
  try {
    const { end } = await runScript(session, ":", { signal: AbortSignal.timeout(PING_MS) });
    return end.kind === "exited";
  } catch {
    return false;
  }
}
