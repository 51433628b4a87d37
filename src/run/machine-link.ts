// The live connection to one machine in a run: its session, its control channel and its event log being followed.

import type { MachineSpec } from "../model/machine.js";
import type { Place } from "../remote/engine/layout.js";
import { Control } from "../remote/spool/control.js";
import { follow } from "../remote/spool/follow.js";
import type { SpoolEvent } from "../remote/spool/spool-event.js";
import type { Tree } from "../remote/tree/tree.js";
import type { Session } from "../transport/session.js";
import { pause } from "./retrying.js";

const LONGEST_REST_MS = 10_000;
/** Sessions that are dropped within this time of each other are in a row. */
const ROW_MS = 60_000;

export type Connect = (spec: MachineSpec, signal: AbortSignal) => Promise<Session>;

interface Live {
  readonly session: Session;
  control: Promise<Control> | null;
  isFollowing: boolean;
  /** Why it was dropped; null: it was not. */
  why: string | null;
}

/** Owns the session; close() it. */
export class MachineLink {
  readonly spec: MachineSpec;
  readonly place: Place;
  /** The copy of the working directory that is there for its jobs. */
  staged: Tree | null = null;
  /** Its slots have what this run gives them beside jobs. */
  isFurnished = false;
  /** What is started there survives the end of the connection only in a scope of the user's systemd. */
  usesScopes = false;
  /** The process over there that stands for this client. */
  holderPid = 0;
  readonly #connect: Connect;
  readonly #closing = new AbortController();
  #live: Live | null = null;
  /** How much of the event log is known. */
  #logOffset = 0;
  /** How many sessions in a row broke before they were of any use. */
  #uselessInRow = 0;
  /** How many sessions in a row were dropped, the last of them at this time. */
  #dropsInRow = 0;
  #droppedAt = 0;
  #losses = 0;
  #hasSpool = false;

  constructor(spec: MachineSpec, place: Place, connect: Connect) {
    this.spec = spec;
    this.place = place;
    this.#connect = connect;
  }

  get signal(): AbortSignal {
    return this.#closing.signal;
  }

  get dropsInRow(): number {
    return this.#dropsInRow;
  }

  get isLost(): boolean {
    return this.#live === null;
  }

  /** As far as was seen: without one there is nobody to ask. */
  get hasSpool(): boolean {
    return this.#hasSpool;
  }

  /** A spool that was removed took its event log along: that of the next one begins anew. So does all the rest. */
  noteSpool(isThere: boolean): void {
    this.#hasSpool = isThere;
    if (isThere) return;
    this.#logOffset = 0;
    this.staged = null;
    this.isFurnished = false;
  }

  /** `onLost` is called once, and not when close() was the reason. */
  async open(onLost: (reason: string) => void): Promise<Session> {
    await pause(restMs(Math.max(this.#uselessInRow, this.#dropsInRow)), this.signal);
    const session = await this.#connect(this.spec, this.signal);
    const live: Live = { session, control: null, isFollowing: false, why: null };
    this.#live = live;
    // The probe, the question what is there of the tree, and what comes next: to hand over, and to follow. Each is a process.
    if (this.#uselessInRow + this.#dropsInRow === 0) session.makeReady?.(4);
    this.#uselessInRow++;
    void session.gone.then((reason) => {
      if (this.#live === live) this.#live = null;
      this.#losses++;
      if (!this.signal.aborted) onLost(live.why ?? reason);
    });
    return session;
  }

  /** The machine answers, but cannot do what is asked. The session's end is what starts a new one, after a pause. */
  drop(reason: string): void {
    if (this.#live !== null) this.#drop(this.#live, reason);
  }

  /** `reason` is null for a link that was lost by itself: there is no need to rest then. */
  #drop(live: Live, reason: string | null): void {
    if (reason === null) return void live.session.close();
    if (live.why !== null || this.#live !== live || this.signal.aborted) return;
    live.why = reason;
    const isInRow = performance.now() - this.#droppedAt < ROW_MS;
    this.#dropsInRow = isInRow ? this.#dropsInRow + 1 : 1;
    this.#droppedAt = performance.now();
    void live.session.close();
  }

  /** To be called before a verb begins: whether the session it used was lost, also if a new one stands since. */
  watchLosses(): { hasLost: () => Promise<boolean> } {
    const before = this.#losses;
    return {
      hasLost: async () => {
        // A verb may fail a moment before the session is known to be gone.
        if (this.#losses === before) await Promise.race([this.#live?.session.gone, pause(500, this.signal)]);
        return this.#losses > before;
      },
    };
  }

  /** To be called when all that a session is for has begun. */
  proveUseful(): void {
    this.#uselessInRow = 0;
    if (performance.now() - this.#droppedAt > ROW_MS) this.#dropsInRow = 0;
  }

  get session(): Session {
    if (this.#live === null) throw new LinkLost();
    return this.#live.session;
  }

  control(): Promise<Control> {
    const live = this.#live;
    if (live === null) throw new LinkLost();
    live.control ??= this.#openControl(live);
    return live.control;
  }

  /** A session whose control channel ended, as when somebody killed its shell, is of no use. */
  async #openControl(live: Live): Promise<Control> {
    const control = await Control.open(live.session, this.place);
    void control.ended.then((reason) => this.#drop(live, reason));
    return control;
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
      .catch((error: Error) => error.message)
      .then((reason) => this.#drop(live, reason));
  }

  async close(): Promise<void> {
    this.#closing.abort(new LinkLost());
    const live = this.#live;
    if (live === null) return;
    await live.control?.then((control) => control.close()).catch(() => undefined);
    await live.session.close();
  }
}

/** Not every machine that lets us in can be used; it is not asked in a tight loop. */
function restMs(useless: number): number {
  return useless === 0 ? 0 : Math.min(100 * 2 ** useless, LONGEST_REST_MS);
}

/** The link went while a verb was under way: what became of it is found out when the link is back. */
export class LinkLost extends Error {
  constructor() {
    super("the connection was lost");
    this.name = "LinkLost";
  }
}
