// Spreads connections over time: a stock sshd drops connections at random once ten are not logged in yet (MaxStartups
// 10:30:100). The remaining ones are left for other programs of the user, such as the user's own ssh.

import { raceAbort } from "./aborted.js";
import { deferred } from "./deferred.js";

const MAX_HANDSHAKES = 6;

interface Door {
  inside: number;
  readonly waiting: (() => void)[];
}

export class Gate {
  readonly #doors = new Map<string, Door>();

  /** Does `work` once fewer than six other connections to the same place are being made, in the order of calls. */
  async pass<T>(name: string, work: () => Promise<T>, signal?: AbortSignal): Promise<T> {
    signal?.throwIfAborted();
    const door = this.#doors.get(name) ?? { inside: 0, waiting: [] };
    this.#doors.set(name, door);
    await enter(door, signal);
    try {
      return await work();
    } finally {
      leave(door);
      if (door.inside === 0) this.#doors.delete(name);
    }
  }
}

async function enter(door: Door, signal: AbortSignal | undefined): Promise<void> {
  if (door.inside < MAX_HANDSHAKES) {
    door.inside++;
    return;
  }
  const turn = deferred<void>();
  door.waiting.push(turn.resolve);
  const abort = raceAbort(signal);
  try {
    await abort.race(turn.promise);
  } catch (error) {
    const at = door.waiting.indexOf(turn.resolve);
    if (at >= 0) door.waiting.splice(at, 1);
    else leave(door); // its turn came at the same moment
    throw error;
  } finally {
    abort.done();
  }
}

/** The next waiter takes the place. */
function leave(door: Door): void {
  const next = door.waiting.shift();
  if (next === undefined) door.inside--;
  else next();
}
