// Holds the terminal for `top`: reads its keys and draws, except while a question is asked or in the background.

import type { Suspendable } from "../../batch/connector.js";
import type { TopView } from "../../report/live/top-view.js";
import type { RoomOrder } from "../../report/tables/room-table.js";
import { isInForeground, listenForStops } from "./job-control.js";
import { parseKeys } from "./key-press.js";
import { findKeyboard, Keyboard } from "./keyboard.js";

const ORDERS: ReadonlyMap<string, RoomOrder> = new Map([
  ["m", "memory"],
  ["u", "use"],
  ["w", "who"],
]);
const [INTERRUPT, SUSPEND] = ["\x03", "\x1a"];
/** After `bg` there is no signal when `fg` is typed. */
const LOOK_AGAIN_MS = 500;

/** Owns the keyboard and a timer; close() it. */
export class TopScreen implements Suspendable {
  readonly #view: TopView;
  readonly #keyboard: Keyboard | null;
  readonly #stopListening: () => void;
  #isAsking = false;
  #isAway = false;
  #timer: NodeJS.Timeout | undefined;

  /** `onLeave`: the person leaves, by `q` or as by a signal. */
  constructor(view: TopView, onLeave: (how: "key" | "signal") => void) {
    this.#view = view;
    const input = findKeyboard(process.stdin, true);
    this.#keyboard = input && new Keyboard(input, (text) => this.#take(text, onLeave));
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
    this.#view.hide(isOff);
  }

  #take(text: string, onLeave: (how: "key" | "signal") => void): void {
    for (const key of parseKeys(text)) {
      const order = ORDERS.get(key);
      if (order !== undefined) this.#view.sortBy(order);
      if (key === "q") onLeave("key");
      if (key === INTERRUPT) onLeave("signal");
      // To the whole job, as the terminal would.
      if (key === SUSPEND) process.kill(0, "SIGTSTP");
    }
  }
}
