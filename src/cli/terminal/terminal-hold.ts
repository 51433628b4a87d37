// Holds the terminal while a batch is shown on it: reads keys and draws, except while a question is asked or in the
// background.

import type { Steering } from "../../batch/follow/steering.js";
import type { KeysMode } from "../../report/live/keys-mode.js";
import type { LiveView, Suspendable } from "../../report/reporter.js";
import { isInForeground, listenForStops } from "./job-control.js";
import { type Action, type Held, parseKeys, press } from "./key-press.js";
import { Keyboard } from "./keyboard.js";
import type { TerminalInput } from "./prompt.js";

export interface HoldParts {
  readonly view: LiveView;
  /** Null: there is no keyboard, or nothing to steer. */
  readonly keys: Keys | null;
  /** Shown while no keys are read. */
  readonly otherwise?: KeysMode | null;
}

interface Keys {
  readonly input: TerminalInput;
  readonly steering: Steering;
}

/** After `bg` there is no signal when `fg` is typed. */
const LOOK_AGAIN_MS = 500;

export class TerminalHold implements Suspendable {
  readonly #view: LiveView;
  readonly #keyboard: Keyboard | null;
  readonly #otherwise: KeysMode | null;
  readonly #stopListening: () => void;
  #mode: KeysMode = "hint";
  #isAsking = false;
  #isAway = false;
  #timer: NodeJS.Timeout | undefined;

  constructor({ view, keys, otherwise = null }: HoldParts) {
    this.#view = view;
    this.#keyboard = keys && new Keyboard(keys.input, (text) => this.#take(text, keys.steering));
    this.#otherwise = otherwise;
    this.#stopListening = listenForStops({
      onStop: () => this.#leave(),
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

  #leave(): void {
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
    if (this.#isAsking || this.#isAway) this.#keyboard?.rest();
    else this.#keyboard?.read();
    this.#view.hide(this.#isAway);
    this.#view.showKeys(this.#keyboard === null || this.#isAway ? this.#otherwise : this.#mode);
  }

  #take(text: string, steering: Steering): void {
    for (const key of parseKeys(text)) {
      const { mode, action } = press(key, this.#mode, heldIn(steering));
      this.#mode = mode;
      this.#view.showKeys(mode);
      if (action !== null) this.#act(action, steering);
    }
  }

  #act(action: Action, steering: Steering): void {
    switch (action) {
      case "detach":
        return steering.detach();
      case "drain":
        return steering.drain();
      case "stop":
        return steering.stop();
      case "continue":
        return steering.continue();
      // To the whole job, as the terminal would: the other end of a pipe belongs to it.
      case "interrupt":
        return void process.kill(0, "SIGINT");
      case "suspend":
        return void process.kill(0, "SIGTSTP");
      case "quit":
        this.#leave();
        return void process.kill(0, "SIGQUIT");
      default:
        return action satisfies never;
    }
  }
}

function heldIn({ interrupted, isPaused }: Steering): Held {
  return isPaused && interrupted === "no" ? "paused" : interrupted;
}
