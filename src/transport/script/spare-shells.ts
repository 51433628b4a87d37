// Shells that wait for their script: the words that start one are always the same, so it can be done ahead.

import type { WrappedChannel } from "../ssh2/ssh2-channel.js";

/** Each holds a channel, which ends with the connection. */
export class SpareShells {
  readonly #open: () => Promise<WrappedChannel | null>;
  /** Oldest first; those that are being opened too. */
  readonly #spares: Promise<WrappedChannel | null>[] = [];

  /** `open` may fail, as where the server allows no further session: then there is one less. */
  constructor(open: () => Promise<WrappedChannel | null>) {
    this.#open = open;
  }

  fill(count: number): void {
    while (this.#spares.length < count) this.#spares.push(this.#open().catch(() => null));
  }

  /** Null: there is none. */
  async take(): Promise<WrappedChannel | null> {
    for (let spare = this.#spares.shift(); spare !== undefined; spare = this.#spares.shift()) {
      const channel = await spare;
      if (channel === null) continue;
      if (!channel.hasEnded()) return channel;
      // Some servers log out who has nothing to say.
      channel.running.close();
    }
    return null;
  }
}
