// Shells that wait for their scripts. The words that start one are always the same, so it can be started in advance.

import type { WrappedChannel } from "../ssh2/ssh2-channel.js";

/** Each holds a channel, which ends with the connection. */
export class SpareShells {
  readonly #open: () => Promise<WrappedChannel | null>;
  /** Oldest first, including those that are being opened. */
  readonly #spares: Spare[] = [];

  /** `open` may fail, for example if the server allows no further session: then there is one fewer. */
  constructor(open: () => Promise<WrappedChannel | null>) {
    this.#open = open;
  }

  fill(count: number): void {
    while (this.#spares.length < count) this.#add();
  }

  /** A script can begin at once. */
  get isAnyOpen(): boolean {
    return this.#spares.some(({ isOpen }) => isOpen);
  }

  /** Null: there is none. */
  async take(): Promise<WrappedChannel | null> {
    for (let spare = this.#spares.shift(); spare !== undefined; spare = this.#spares.shift()) {
      const channel = await spare.opening;
      if (channel === null) continue;
      if (!channel.hasEnded()) return channel;
      // Some servers log out idle shells.
      channel.running.close();
    }
    return null;
  }

  #add(): void {
    const spare: Spare = { opening: this.#open().catch(() => null), isOpen: false };
    this.#spares.push(spare);
    void spare.opening.then((channel) => {
      spare.isOpen = channel !== null;
    });
  }
}

interface Spare {
  readonly opening: Promise<WrappedChannel | null>;
  isOpen: boolean;
}
