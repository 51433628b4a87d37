// A batch's connection to a machine: a session borrowed from the fleet, and borrowed again after a loss.

import type { MachineSpec } from "../model/machine.js";
import type { Session } from "../transport/session.js";
import { BackOff } from "./back-off.js";
import type { Borrowed } from "./borrowed-session.js";
import type { Fleet } from "./fleet.js";
import { pause } from "./retrying.js";

interface Live extends Borrowed {
  /** Why it was dropped; null: it was not. */
  why: string | null;
}

/** Borrows the session; close() returns it. */
export class Link {
  readonly spec: MachineSpec;
  readonly #fleet: Fleet;
  readonly #closing = new AbortController();
  readonly #backOff = new BackOff();
  #live: Live | null = null;
  #losses = 0;

  constructor(spec: MachineSpec, fleet: Fleet) {
    this.spec = spec;
    this.#fleet = fleet;
  }

  get signal(): AbortSignal {
    return this.#closing.signal;
  }

  get dropsInRow(): number {
    return this.#backOff.dropsInRow;
  }

  get isLost(): boolean {
    return this.#live === null;
  }

  get session(): Session {
    if (this.#live === null) throw new LinkLost();
    return this.#live.session;
  }

  /** Calls `onLost` once, but not after close(). */
  async open(onLost: (reason: string) => void): Promise<Session> {
    await pause(this.#backOff.restMs(), this.signal);
    const borrowed = await this.#fleet.borrow(this.spec, this.signal);
    const live: Live = { ...borrowed, why: null };
    const { session } = live;
    this.#live = live;
    // Four shells: for the hand-over, following, controlling, and the first results, or the question about the tree. Each is a
    // process. They start behind the probe, which has a shell of its own.
    if (!this.#backOff.isResting) setImmediate(() => session.makeReady?.(4));
    this.#backOff.noteOpened();
    void session.gone.then((reason) => {
      if (this.#live === live) this.#live = null;
      this.#losses++;
      if (!this.signal.aborted) onLost(live.why ?? reason);
    });
    return session;
  }

  /** The machine answers, but cannot do what is asked. Ending the session starts a new one, after a pause. */
  drop(reason: string): void {
    if (this.#live !== null) this.#drop(this.#live, reason);
  }

  /** `reason` is null for a session that was lost by itself: then no pause is needed. */
  protected dropSession(session: Session, reason: string | null): void {
    if (reason === null) return void session.close();
    if (this.#live?.session === session) this.#drop(this.#live, reason);
  }

  #drop(live: Live, reason: string): void {
    if (live.why !== null || this.signal.aborted) return;
    live.why = reason;
    this.#backOff.noteDropped(performance.now());
    live.retire();
    void live.session.close();
  }

  /** Call it before a verb begins. `hasLost` tells whether the verb's session was lost, even if there is a new one. */
  watchLosses(): { hasLost: () => Promise<boolean> } {
    const before = this.#losses;
    return {
      hasLost: async () => {
        // A verb may fail just before the loss of the session is noticed.
        if (this.#losses === before) await Promise.race([this.#live?.session.gone, pause(500, this.signal)]);
        return this.#losses > before;
      },
    };
  }

  /** Call it when everything that a session is for has begun. */
  proveUseful(): void {
    this.#backOff.noteUseful(performance.now());
  }

  async close(): Promise<void> {
    this.#closing.abort(new LinkLost());
    const live = this.#live;
    if (live === null) return;
    await this.endBegun(live.session);
    await live.session.close();
  }

  /** Ends everything that was started through a session, before it is returned. */
  protected async endBegun(_session: Session): Promise<void> {}
}

/** The connection was lost while a verb was in progress. Its effect is determined after reconnecting. */
export class LinkLost extends Error {
  constructor() {
    super("the connection was lost");
    this.name = "LinkLost";
  }
}
