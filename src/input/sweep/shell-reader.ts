// Tracks how the shell reads the current place in a line: which quotes surround it. It knows enough grammar for one
// line of commands, not all of it.

import type { Placeholder } from "../../model/sweep.js";

type Frame = "parentheses" | "backticks" | "double" | "single" | "ansi";

export class ShellReader {
  readonly #open: Frame[] = [];
  #before = "";
  #isEscaped = false;

  /** The next character is literal. */
  get isEscaped(): boolean {
    return this.#isEscaped;
  }

  get within(): Placeholder["within"] {
    const innermost = this.#open.at(-1);
    if (this.#open.includes("backticks") || innermost === "ansi") return "opaque";
    if (innermost === "single") return "single quotes";
    return innermost === "double" ? "double quotes" : "nothing";
  }

  take(character: string): void {
    const isEscaped = this.#isEscaped;
    this.#isEscaped = !isEscaped && character === "\\" && this.#open.at(-1) !== "single";
    if (!isEscaped && !this.#isEscaped) this.#follow(character);
    this.#before = isEscaped ? "" : character;
  }

  #follow(character: string): void {
    const innermost = this.#open.at(-1);
    if (innermost === "single" || innermost === "ansi") {
      if (character === "'") this.#open.pop();
      return;
    }
    const isInDouble = innermost === "double";
    if (character === "`") this.#toggle("backticks");
    else if (character === '"') this.#toggle("double");
    else if (character === "(" && (!isInDouble || this.#before === "$")) this.#open.push("parentheses");
    else if (character === ")" && innermost === "parentheses") this.#open.pop();
    else if (character === "'" && !isInDouble) this.#open.push(this.#before === "$" ? "ansi" : "single");
  }

  #toggle(frame: Frame): void {
    if (this.#open.at(-1) === frame) this.#open.pop();
    else this.#open.push(frame);
  }
}
