// Holds the terminal for a view: reads its keys and draws, except while a question is asked or in the background.

import type { Suspendable } from "../../batch/connector.js";
import { parseKeys } from "./key-press.js";
import { findKeyboard, Keyboard } from "./keyboard.js";
import { TerminalTurn } from "./terminal-turn.js";

const [INTERRUPT, SUSPEND] = ["\x03", "\x1a"];

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
  readonly #turn: TerminalTurn;

  constructor(use: ScreenUse) {
    this.#use = use;
    const input = findKeyboard(process.stdin, true);
    const keyboard = input && new Keyboard(input, (text) => this.#take(text));
    this.#turn = new TerminalTurn(keyboard, ({ isAsking, isAway }) => use.view.hide(isAsking || isAway));
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
