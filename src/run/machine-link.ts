// The live connection to one machine in a run: its session, its control channel and its event log being followed.

import type { MachineSpec } from "../model/machine.js";
import { Control } from "../remote/control.js";
import { follow } from "../remote/follow.js";
import type { Place } from "../remote/layout.js";
import type { SpoolEvent } from "../remote/spool-event.js";
import type { Session } from "../transport/session.js";
import { pause } from "./retrying.js";

export type Connect = (spec: MachineSpec, signal: AbortSignal) => Promise<Session>;

/** Owns the session; close() it. */
export class MachineLink {
  readonly spec: MachineSpec;
  readonly place: Place;
  isStaged = false;
  readonly #connect: Connect;
  readonly #closing = new AbortController();
  #live: { session: Session; control: Promise<Control> | null; isFollowing: boolean } | null = null;
  /** How much of the event log is known. */
  #logOffset = 0;

  constructor(spec: MachineSpec, place: Place, connect: Connect) {
    this.spec = spec;
    this.place = place;
    this.#connect = connect;
  }

  get signal(): AbortSignal {
    return this.#closing.signal;
  }

  get isLost(): boolean {
    return this.#live === null;
  }

  /** `onLost` is called once, and not when close() was the reason. */
  async open(onLost: (reason: string) => void): Promise<Session> {
    const session = await this.#connect(this.spec, this.signal);
    const live = { session, control: null, isFollowing: false };
    this.#live = live;
    void session.gone.then((reason) => {
      if (this.#live === live) this.#live = null;
      if (!this.signal.aborted) onLost(reason);
    });
    return session;
  }

  /** To be asked before a verb begins: whether the session it used was lost, also if a new one stands since. */
  whenLost(): { hasHappened: () => Promise<boolean> } {
    const gone = this.#live?.session.gone;
    return {
      // A verb may fail a moment before the session is known to be gone.
      hasHappened: async () =>
        gone !== undefined &&
        Promise.race([gone.then(() => true), pause(500, this.signal).then(() => false)]),
    };
  }

  get session(): Session {
    if (this.#live === null) throw new LinkLost();
    return this.#live.session;
  }

  control(): Promise<Control> {
    const live = this.#live;
    if (live === null) throw new LinkLost();
    live.control ??= Control.open(live.session, this.place);
    return live.control;
  }

  /** Tells every event of the log that is not known yet, and those to come. */
  follow(onEvent: (event: SpoolEvent) => void): void {
    const live = this.#live;
    if (live === null || live.isFollowing) return;
    live.isFollowing = true;
    const following = {
      place: this.place,
      offset: this.#logOffset,
      signal: this.signal,
      onEvent: (event: SpoolEvent, offset: number) => {
        this.#logOffset = offset;
        onEvent(event);
      },
    };
    // When following ends without us, the session is of no use: its end is what starts a new one.
    void follow(live.session, following)
      .catch(() => undefined)
      .finally(() => live.session.close());
  }

  async close(): Promise<void> {
    this.#closing.abort(new LinkLost());
    const live = this.#live;
    if (live === null) return;
    await live.control?.then((control) => control.close()).catch(() => undefined);
    await live.session.close();
  }
}

/** The link went while a verb was under way: what became of it is found out when the link is back. */
export class LinkLost extends Error {
  constructor() {
    super("the connection was lost");
    this.name = "LinkLost";
  }
}
