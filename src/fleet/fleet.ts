// The connections of a whole process: batches that use the same machine share one.

import type { MachineSpec } from "../model/machine.js";
import type { Session } from "../transport/session.js";
import { Shared } from "../transport/shared.js";
import { type Borrowed, borrow } from "./borrowed-session.js";

/** A batch keeps two channels open, and a connection has eight. The rest is for short requests of batches. */
const MOST_BATCHES = 3;

export type Connect = (machine: Pick<MachineSpec, "address">, signal: AbortSignal) => Promise<Session>;

/** One per process. A connection is opened for the first batch that needs it, and closed after the last one. */
export class Fleet {
  readonly #connect: Connect;
  readonly #sessions = new Shared<Session>({ mostUsers: MOST_BATCHES, remembersRefusals: false });

  constructor(connect: Connect) {
    this.#connect = connect;
  }

  /** Rejects as connecting does, or with the signal's reason. Close the session to return it. */
  async borrow(machine: Pick<MachineSpec, "address">, signal: AbortSignal): Promise<Borrowed> {
    const open = (own: AbortSignal) => this.#connect(machine, own);
    return borrow(await this.#sessions.lease(JSON.stringify(machine.address), open, signal));
  }
}
