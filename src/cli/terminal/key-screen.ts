// Holds the terminal for a view: reads its keys and draws, except while a question is asked or in the background.

import type { Suspendable } from "../../batch/connector.js";
import { isInForeground, listenForStops } from "./job-control.js";
import { parseKeys } from "./key-press.js";
import { findKeyboard, Keyboard } from "./keyboard.js";

const [INTERRUPT, SUSPEND] = ["\x03", "\x1a"];
/** After `bg` there is no signal when `fg` is typed. */
const LOOK_AGAIN_MS = 500;

export interface ScreenUse {
  readonly view: { hide(isHidden: boolean): void };
  /** Of keys that do not leave. */
  readonly onKey: (key: string) => void;
  /** The person leaves, by `q` or as by a signal. */
  readonly onLeave: (how: "key" | "signal") => void;
}

/** Owns the keyboard and a timer; close() it. */
export class KeyScreen implements Suspendable {
  readonly #use: ScreenUse;
  readonly #keyboard: Keyboard | null;
  readonly #stopListening: () => void;
  #isAsking = false;
  #isAway = false;
  #timer: NodeJS.Timeout | undefined;

  constructor(use: ScreenUse) {
    this.#use = use;
    const input = findKeyboard(process.stdin, true);
    this.#keyboard = input && new Keyboard(input, (text) => this.#take(text));
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
    const isOff = this.#isAsking || this.#isAway;
    if (isOff) this.#keyboard?.rest();
    else this.#keyboard?.read();
    this.#use.view.hide(isOff);
  }

  #take(text: string): void {
    const { onKey, onLeave } = this.#use;
    for (const key of parseKeys(withScrolling(text))) {
      if (key === "q") onLeave("key");
      else if (key === INTERRUPT) onLeave("signal");
      // To the whole job, as the terminal would.
      else if (key === SUSPEND) process.kill(0, "SIGTSTP");
      else onKey(key);
    }
  }
}

/** Arrows and page keys as the letters of less: k, j, b, f. */
function withScrolling(text: string): string {
  const letters: Readonly<Record<string, string>> = { A: "k", B: "j", "5~": "b", "6~": "f" };
  return text.replace(/\x1b[[O](A|B|5~|6~)/g, (_, key: string) => letters[key] ?? "");
}
