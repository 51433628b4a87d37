// Reads single keys of the terminal, without echo, and restores its mode afterwards.

import { openSync } from "node:fs";
import { ReadStream } from "node:tty";
import type { TerminalInput } from "./prompt.js";

/** `mayTakeStdin`: stdin is not used for anything else. Null: there is no terminal for keys. */
export function findKeyboard(stdin: TerminalInput, mayTakeStdin: boolean): TerminalInput | null {
  if (mayTakeStdin && stdin.isTTY) return stdin;
  try {
    return new ReadStream(openSync("/dev/tty", "r"));
  } catch {
    return null;
  }
}

/** Node itself restores the terminal if the process ends while keys are read. */
export class Keyboard {
  readonly #input: TerminalInput;
  readonly #onData: (chunk: Buffer) => void;
  #isReading = false;

  constructor(input: TerminalInput, onKeys: (text: string) => void) {
    this.#input = input;
    this.#onData = (chunk) => onKeys(chunk.toString());
    // The window was closed: the signal for that ends us.
    input.on("error", () => {});
  }

  /** Ctrl-C and Ctrl-Z are keys from here on. */
  read(): void {
    if (this.#isReading) return;
    this.#isReading = true;
    this.#input.setRawMode(true);
    this.#input.on("data", this.#onData).resume();
  }

  rest(): void {
    if (!this.#isReading) return;
    this.#isReading = false;
    this.#input.off("data", this.#onData).pause();
    this.#input.setRawMode(false);
  }
}
