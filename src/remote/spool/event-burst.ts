// Gathers the events of several logs at once, and passes them on in the order in which they happened.

import type { SpoolEvent } from "./spool-event.js";
import { inTrueOrder } from "./true-order.js";

/**
 * At first all logs arrive one after the other. These are the times to wait for all of them, and for the last one after
 * its header.
 */
const LOGS_WITHIN_MS = 500;
const LAST_WITHIN_MS = 20;

/** Owns a timer until tell(), which must be called at the end. */
export class EventBurst {
  readonly #onEvent: (event: SpoolEvent) => void;
  #events: SpoolEvent[] = [];
  /** How many logs must arrive before anything is passed on; below 2: each piece is passed on at once. */
  #expected = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor(onEvent: (event: SpoolEvent) => void) {
    this.#onEvent = onEvent;
  }

  expect(logs: number): void {
    this.#expected = logs;
    this.#timer = setTimeout(this.tell, LOGS_WITHIN_MS);
  }

  readonly add = (event: SpoolEvent): void => {
    this.#events.push(event);
  };

  /** Call it after each piece. `logs`: how many have arrived so far. */
  noteEnd(logs: number): void {
    if (this.#expected < 2) return this.tell();
    if (logs < this.#expected) return;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(this.tell, LAST_WITHIN_MS);
  }

  readonly tell = (): void => {
    clearTimeout(this.#timer);
    this.#expected = 0;
    const events = this.#events;
    this.#events = [];
    for (const event of inTrueOrder(events)) this.#onEvent(event);
  };
}
