// Reads keys while it is our turn at the terminal: not while a question is asked there, and not in the background.

import { isInForeground, listenForStops } from "./job-control.js";
import type { Keyboard } from "./keyboard.js";

/** After `bg` there is no signal when `fg` is typed. */
const LOOK_AGAIN_MS = 500;

export interface Turn {
  /** A question is asked. */
  readonly isAsking: boolean;
  /** The process is in the background, or about to be suspended. */
  readonly isAway: boolean;
}

/** Owns a timer; close() it. */
export class TerminalTurn {
  readonly #keyboard: Keyboard | null;
  readonly #onChange: (turn: Turn) => void;
  readonly #stopListening: () => void;
  #isAsking = false;
  #isAway = false;
  #timer: NodeJS.Timeout | undefined;

  /** Calls `onChange` at once, and after each change. */
  constructor(keyboard: Keyboard | null, onChange: (turn: Turn) => void) {
    this.#keyboard = keyboard;
    this.#onChange = onChange;
    this.#stopListening = listenForStops({
      onStop: () => this.leave(),
      onContinue: () => this.#return(),
    });
    this.#return();
  }

  suspend(): void {
    this.#isAsking = true;
    this.#settle();
  }

  resume(): void {
    this.#isAsking = false;
    this.#settle();
  }

  close(): void {
    this.#stopListening();
    clearInterval(this.#timer);
    this.#keyboard?.rest();
  }

  leave(): void {
    this.#isAway = true;
    this.#settle();
  }

  #return(): void {
    clearInterval(this.#timer);
    this.#isAway = !isInForeground();
    if (this.#isAway)
      this.#timer = setInterval(() => isInForeground() && this.#return(), LOOK_AGAIN_MS).unref();
    // The shell may have changed the terminal's mode.
    this.#keyboard?.rest();
    this.#settle();
  }

  #settle(): void {
    const turn = { isAsking: this.#isAsking, isAway: this.#isAway };
    if (turn.isAsking || turn.isAway) this.#keyboard?.rest();
    else this.#keyboard?.read();
    this.#onChange(turn);
  }
}
