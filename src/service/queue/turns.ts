// When a runner looks at its queue: one turn at a time, at once or later. It rests longer and longer while no machine can
// be used.

const FIRST_REST_MS = 2000;
const LONGEST_REST_MS = 60_000;

export interface Looks {
  readonly look: () => Promise<void>;
  /** It could not look, and does so again soon. */
  readonly onTrouble: (error: unknown) => void;
}

export class Turns {
  readonly #looks: Looks;
  #restMs = 0;
  #notBefore = 0;
  #timer: NodeJS.Timeout | undefined;
  #turn: Promise<void> = Promise.resolve();
  #isWoken = false;
  #isClosed = false;

  constructor(looks: Looks) {
    this.#looks = looks;
  }

  get isClosed(): boolean {
    return this.#isClosed;
  }

  /** Resolves when the turn under way is over. */
  get over(): Promise<void> {
    return this.#turn;
  }

  /** A turn of its own, after those that were asked for. */
  add(act: () => Promise<void>): Promise<void> {
    this.#turn = this.#turn.then(act);
    return this.#turn;
  }

  /** Does not keep the process alive. */
  addAfter(ms: number, act: () => Promise<void>): void {
    const timer = setTimeout(() => {
      void this.add(async () => {
        if (!this.#isClosed) await act();
      });
    }, ms);
    timer.unref();
  }

  wake(): void {
    if (this.#isWoken || this.#isClosed) return;
    this.#isWoken = true;
    void this.add(async () => {
      this.#isWoken = false;
      if (this.#isClosed) return;
      await this.#looks.look().catch((error: unknown) => {
        this.#looks.onTrouble(error);
        this.wakeAfter(FIRST_REST_MS);
      });
    });
  }

  wakeAfter(ms: number): void {
    this.cancel();
    this.#timer = setTimeout(() => this.wake(), ms);
  }

  /** Does not keep the process alive. */
  idle(ms: number, act: () => void): void {
    this.cancel();
    this.#timer = setTimeout(act, ms);
    this.#timer.unref();
  }

  /** What was to happen later. */
  cancel(): void {
    clearTimeout(this.#timer);
  }

  /** No machine can be used: looks now, and a new generation waits. */
  rest(): void {
    this.#restMs = Math.min(LONGEST_REST_MS, Math.max(FIRST_REST_MS, this.#restMs * 2));
    this.#notBefore = performance.now() + this.#restMs;
    this.wake();
  }

  get restLeftMs(): number {
    return this.#notBefore - performance.now();
  }

  /** A machine can be used. */
  endRest(): void {
    this.#restMs = 0;
    this.#notBefore = 0;
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.cancel();
    await this.#turn;
  }
}
