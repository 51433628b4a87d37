// Holds the terminal while a batch is shown on it: reads keys and draws, except while a question is asked or in the
// background.

import type { Steering } from "../../batch/follow/steering.js";
import type { KeysMode } from "../../report/live/keys-mode.js";
import type { LiveView, Suspendable } from "../../report/reporter.js";
import { type Action, type Held, parseKeys, press } from "./key-press.js";
import { Keyboard } from "./keyboard.js";
import type { TerminalInput } from "./prompt.js";
import { TerminalTurn } from "./terminal-turn.js";

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

export class TerminalHold implements Suspendable {
  readonly #view: LiveView;
  readonly #turn: TerminalTurn;
  #mode: KeysMode = "hint";

  constructor({ view, keys, otherwise = null }: HoldParts) {
    this.#view = view;
    const keyboard = keys && new Keyboard(keys.input, (text) => this.#take(text, keys.steering));
    this.#turn = new TerminalTurn(keyboard, ({ isAway }) => {
      view.hide(isAway);
      view.showKeys(keyboard === null || isAway ? otherwise : this.#mode);
    });
  }

  suspend(): void {
    this.#turn.suspend();
  }

  resume(): void {
    this.#turn.resume();
  }

  close(): void {
    this.#turn.close();
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
        this.#turn.leave();
        return void process.kill(0, "SIGQUIT");
      default:
        return action satisfies never;
    }
  }
}

function heldIn({ interrupted, isPaused }: Steering): Held {
  return isPaused && interrupted === "no" ? "paused" : interrupted;
}
