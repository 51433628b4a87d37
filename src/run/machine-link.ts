// One batch's link to one machine: its control channel, its event log being followed, and what it has there by now.

import type { Fleet } from "../fleet/fleet.js";
import { Link } from "../fleet/link.js";
import type { MachineSpec } from "../model/machine.js";
import type { Place } from "../remote/engine/layout.js";
import { Control } from "../remote/spool/control.js";
import { follow } from "../remote/spool/follow.js";
import type { SpoolEvent } from "../remote/spool/spool-event.js";
import type { Tree } from "../remote/tree/tree.js";
import type { Session } from "../transport/session.js";

/** What was begun through one session, and ends with it. */
interface Begun {
  control: Promise<Control> | null;
  isFollowing: boolean;
}

/** Returns its session to the fleet when it is closed. */
export class MachineLink extends Link {
  readonly place: Place;
  /** The copy of the working directory that is there for its jobs. */
  staged: Tree | null = null;
  /** Its slots have what this run gives them beside jobs. */
  isFurnished = false;
  /** What is started there survives the end of the connection only in a scope of the user's systemd. */
  usesScopes = false;
  /** The process over there that stands for this client. */
  holderPid = 0;
  readonly #begun = new WeakMap<Session, Begun>();
  /** How much of the event log is known. */
  #logOffset = 0;
  #hasSpool = false;

  constructor(spec: MachineSpec, place: Place, fleet: Fleet) {
    super(spec, fleet);
    this.place = place;
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

  /** Throws LinkLost when there is no session. */
  control(): Promise<Control> {
    const { session } = this;
    const begun = this.#begunOn(session);
    begun.control ??= this.#openControl(session);
    return begun.control;
  }

  #begunOn(session: Session): Begun {
    const begun = this.#begun.get(session) ?? { control: null, isFollowing: false };
    this.#begun.set(session, begun);
    return begun;
  }

  /** A session whose control channel ended, as when its shell was killed, is of no use. */
  async #openControl(session: Session): Promise<Control> {
    const control = await Control.open(session, this.place);
    void control.ended.then((reason) => this.dropSession(session, reason));
    return control;
  }

  /** Tells every event of the log that is not known yet, and those to come. */
  follow(onEvent: (event: SpoolEvent) => void): void {
    if (this.isLost) return;
    const { session } = this;
    const begun = this.#begunOn(session);
    if (begun.isFollowing) return;
    begun.isFollowing = true;
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
    void follow(session, following)
      .catch((error: Error) => error.message)
      .then((reason) => this.dropSession(session, reason));
  }

  protected override async endBegun(session: Session): Promise<void> {
    await this.#begunOn(session)
      .control?.then((control) => control.close())
      .catch(() => undefined);
  }
}
