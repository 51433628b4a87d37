// The connection of one batch to one machine, with its control channel, the event logs it follows, and its spool.

import type { Fleet } from "../../fleet/fleet.js";
import { Link } from "../../fleet/link.js";
import type { Capacity, Slot } from "../../model/machine.js";
import type { Place } from "../../remote/engine/layout.js";
import { Control, type Hold } from "../../remote/spool/control.js";
import { follow } from "../../remote/spool/follow.js";
import type { KnownLogs } from "../../remote/spool/log-stream.js";
import type { SpoolEvent } from "../../remote/spool/spool-event.js";
import type { Tree } from "../../remote/tree/tree.js";
import type { Session } from "../../transport/session.js";
import type { Emit } from "../loop.js";
import type { RunMachine } from "../run-machines.js";
import { ControlAhead } from "./control-ahead.js";

/** What was started through one session, and ends with it. */
interface Begun {
  control: Promise<Control> | null;
  /** Null: none was opened, or it was given up. */
  ahead: ControlAhead | null;
  /** The answer to the first request to hold the batch, until it is used. */
  holder: Hold | null;
  following: {
    /** The logs that are followed; null: not known yet. */
    logs: readonly string[] | null;
    /** Ends following, so that it starts again with more logs. */
    readonly again: AbortController;
  } | null;
}

interface ToFollow {
  readonly begun: Begun;
  readonly onEvent: (event: SpoolEvent) => void;
  readonly awaitsSpool: boolean;
}

/** There was nothing to follow yet. */
const NO_SPOOL = Symbol("no spool");

/** Returns its session to the fleet when it is closed. */
export class MachineLink extends Link {
  readonly place: Place;
  /** The slots that an earlier client gave it; null: none did. */
  readonly pastSlots: readonly Slot[] | null;
  /** What an earlier client measured; null: nothing. */
  readonly pastCapacity: Capacity | null;
  readonly older: RunMachine["older"];
  /** Its slots in this run; null: it was not measured yet. */
  slots: readonly Slot[] | null = null;
  /** As it was measured with its slots. */
  capacity: Capacity | null = null;
  /** The trees that the machine has for its jobs, by `treeKeyOf`. */
  readonly staged = new Map<string, Tree>();
  /** Its slots have everything that this run gives them besides jobs. */
  isFurnished = false;
  /** Started processes survive the end of the connection only in a scope of the user's systemd. */
  usesScopes = false;
  /** The process on the machine that represents this client. */
  holderPid = 0;
  readonly #begun = new WeakMap<Session, Begun>();
  /** How much of the event logs has been read. */
  readonly #knownLogs: KnownLogs = new Map();
  /** The last drain in the logs, and the last one that has ended. */
  readonly #drains = { begun: 0, over: 0 };
  #hasSpool = false;
  readonly #warnings = new Set<string>();

  constructor({ spec, place, pastSlots, pastCapacity, older }: Omit<RunMachine, "isOpen">, fleet: Fleet) {
    super(spec, fleet);
    this.place = place;
    this.pastSlots = pastSlots;
    this.pastCapacity = pastCapacity;
    this.older = older;
  }

  /** As last seen. Without a spool there is nothing to ask the machine for. */
  get hasSpool(): boolean {
    return this.#hasSpool;
  }

  /**
   * A removed spool took its event logs with it, so the logs of the next one are read from the start. The rest is
   * reset, too.
   */
  noteSpool(isThere: boolean): void {
    this.#hasSpool = isThere;
    if (isThere) return;
    this.#knownLogs.clear();
    Object.assign(this.#drains, { begun: 0, over: 0 });
    this.staged.clear();
    this.isFurnished = false;
  }

  /** Each slot finds out by itself, and each needs the same warning. */
  warnOnce(message: string, emit: Emit): void {
    if (this.#warnings.has(message)) return;
    this.#warnings.add(message);
    emit({ kind: "warning", message: `${this.spec.name}: ${message}` });
  }

  /** Throws LinkLost if there is no session. */
  control(): Promise<Control> {
    const { session } = this;
    const begun = this.#begunOn(session);
    begun.control ??= this.#openControl(session, begun);
    return begun.control;
  }

  /** Opens the control channel while the first jobs are on their way. */
  controlAhead(client: string): void {
    const { session } = this;
    const begun = this.#begunOn(session);
    if (this.#hasSpool || begun.control !== null || begun.ahead !== null) return;
    begun.ahead = new ControlAhead(session, this.place, client);
  }

  /** The jobs did not arrive. */
  giveUpAhead(): void {
    if (this.isLost) return;
    const begun = this.#begunOn(this.session);
    if (begun.control !== null) return;
    begun.ahead?.cancel();
    begun.ahead = null;
  }

  /** Who holds the batch, as the control channel that was opened ahead learned; null: it is to be asked. Used once. */
  takeHolder(): Hold | null {
    const begun = this.#begunOn(this.session);
    const { holder } = begun;
    begun.holder = null;
    return holder;
  }

  #begunOn(session: Session): Begun {
    const begun = this.#begun.get(session) ?? { control: null, ahead: null, holder: null, following: null };
    this.#begun.set(session, begun);
    return begun;
  }

  /** A session whose control channel ended, for example because its shell was killed, is closed. */
  async #openControl(session: Session, begun: Begun): Promise<Control> {
    const ahead = await begun.ahead?.opened;
    begun.holder = ahead?.holder ?? null;
    const control = ahead?.control ?? (await Control.open(session, this.place));
    void control.ended.then((reason) => this.dropSession(session, reason));
    return control;
  }

  /** Calls `onEvent` for every new event of the logs, and for those to come. `awaitsSpool`: jobs are on their way to it. */
  follow(onEvent: (event: SpoolEvent) => void, awaitsSpool = false): void {
    if (this.isLost) return;
    const { session } = this;
    const begun = this.#begunOn(session);
    if (begun.following !== null) return;
    // If following ends unexpectedly, the session is closed, and a new one is started.
    void this.#followAll(session, { begun, onEvent, awaitsSpool })
      .catch((error: Error) => error.message)
      .then((reason) => (reason === NO_SPOOL ? undefined : this.dropSession(session, reason)));
  }

  async #followAll(
    session: Session,
    { begun, onEvent, awaitsSpool }: ToFollow,
  ): Promise<string | null | typeof NO_SPOOL> {
    for (;;) {
      const following: NonNullable<Begun["following"]> = { logs: null, again: new AbortController() };
      begun.following = following;
      const isEarly = awaitsSpool && !this.#hasSpool;
      const reason = await follow(session, {
        place: this.place,
        known: this.#knownLogs,
        signal: AbortSignal.any([this.signal, following.again.signal]),
        awaitsSpool: isEarly,
        onLogs: (names) => {
          following.logs = names;
          this.#hasSpool = true;
        },
        onEvent,
      });
      if (following.again.signal.aborted && !this.signal.aborted) continue;
      if (isEarly && following.logs === null && reason !== null) {
        // The hand-over may have ended in the meantime.
        if (this.#hasSpool) continue;
        begun.following = null;
        return NO_SPOOL;
      }
      // The logs may have lost lines, so all of them are read again.
      if (reason !== null) this.#knownLogs.clear();
      return reason;
    }
  }

  /** Called with the existing logs. If one is new, for example another client's, following starts again. */
  noteLogs(names: readonly string[]): void {
    if (this.isLost) return;
    const { following } = this.#begunOn(this.session);
    if (following?.logs && names.some((name) => !following.logs?.includes(name))) following.again.abort();
  }

  /** False if this drain has already ended, because logs are read in any order. */
  noteDraining(number: number | null): boolean {
    this.#drains.begun = Math.max(this.#drains.begun, number ?? 0);
    return number === null || number > this.#drains.over;
  }

  /** False if a later drain is known. */
  noteOpened(number: number | null): boolean {
    this.#drains.over = Math.max(this.#drains.over, number ?? 0);
    return number === null || number >= this.#drains.begun;
  }

  protected override async endBegun(session: Session): Promise<void> {
    const { control, ahead } = this.#begunOn(session);
    if (control === null) ahead?.cancel();
    await control?.then((opened) => opened.close()).catch(() => undefined);
  }
}
