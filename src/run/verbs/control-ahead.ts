// A control channel that is opened while the first jobs are on their way, and asks at once to hold the batch. If the jobs do
// not arrive, it ends without consequences: another one is opened when it is needed.

import type { Place } from "../../remote/engine/layout.js";
import { Control, type Hold } from "../../remote/spool/control.js";
import type { Session } from "../../transport/session.js";

interface Opened {
  readonly control: Control;
  readonly holder: Hold;
}

/** Owns the channel until it is taken; call cancel() otherwise. */
export class ControlAhead {
  readonly #opening: Promise<Control | null>;
  /** Null: the jobs did not arrive in time, or not at all. */
  readonly opened: Promise<Opened | null>;

  constructor(session: Session, place: Place, client: string) {
    this.#opening = Control.open(session, place, true).catch(() => null);
    this.opened = this.#hold(client);
  }

  async #hold(client: string): Promise<Opened | null> {
    const control = await this.#opening;
    const holder = await control?.hold(client).catch(() => null);
    return control && holder ? { control, holder } : null;
  }

  cancel(): void {
    void this.#opening.then((control) => control?.close());
  }
}
