// Asks the person at the terminal, one question at a time; the live view is hidden in the meantime.

import type { Readable } from "node:stream";
import type { AskPerson } from "../../batch/connector.js";
import type { Suspendable } from "../../report/reporter.js";

/** Such as process.stdin. */
export interface TerminalInput extends Readable {
  readonly isTTY?: boolean;
  setRawMode(isRaw: boolean): unknown;
}

export interface PromptOptions {
  readonly stdin: TerminalInput;
  readonly stderr: { readonly isTTY?: boolean; write(text: string): unknown };
  /** What draws on the terminal; null: nothing does. */
  readonly view: Suspendable | null;
}

/** Null if there is no person: in a pipe nothing is ever asked. */
export function createPrompt(options: PromptOptions): AskPerson | null {
  if (!options.stdin.isTTY || !options.stderr.isTTY) return null;
  let last: Promise<unknown> = Promise.resolve();
  const inTurn = (prompt: string, isSeen: boolean) => {
    const answer = last.then(() => ask(prompt, isSeen, options));
    last = answer.catch(() => {});
    return answer;
  };
  return {
    passphrase: (prompt) => inTurn(prompt, false),
    confirm: async (question) => /^y(es)?$/i.test((await inTurn(question, true)) ?? ""),
  };
}

async function ask(
  prompt: string,
  isSeen: boolean,
  { stdin, stderr, view }: PromptOptions,
): Promise<string | null> {
  view?.suspend();
  try {
    // Raw mode, so that only `echo` echoes, and Ctrl-C is a key. It comes before the prompt: an answer can be typed or pasted at
    // once. Node itself restores the terminal if it is ended here.
    stdin.setRawMode(true);
    stderr.write(prompt);
    const echo = (typed: Buffer) => stderr.write(typed.toString().replace(/[^ -~]/g, ""));
    const answer = await readLine(stdin, isSeen ? echo : () => {});
    stdin.setRawMode(false);
    return answer;
  } finally {
    stderr.write("\n");
    view?.resume();
  }
}

async function readLine(stdin: TerminalInput, echo: (typed: Buffer) => void): Promise<string | null> {
  const line = new UnseenLine();
  let onData: (chunk: Buffer) => void = () => {};
  let onEnd = () => {};
  try {
    return await new Promise((resolve) => {
      onData = (chunk) => {
        line.type(chunk);
        echo(chunk);
        if (line.answer !== undefined) resolve(line.answer);
      };
      onEnd = () => resolve(null);
      stdin.on("data", onData).on("end", onEnd).resume();
    });
  } finally {
    stdin.off("data", onData).off("end", onEnd).pause();
  }
}

const [INTERRUPT, END, BACKSPACE, TAB, ERASE_LINE, DELETE] = [0x03, 0x04, 0x08, 0x09, 0x15, 0x7f];
const ENTER = [0x0a, 0x0d];

/** A line being typed, in bytes: a letter may arrive in two pieces. */
export class UnseenLine {
  /** Null: no answer was given. Undefined: not done yet. */
  answer: string | null | undefined;
  #bytes: number[] = [];

  type(chunk: Iterable<number>): void {
    for (const byte of chunk) {
      if (this.answer === undefined) this.#press(byte);
    }
  }

  #press(byte: number): void {
    if (ENTER.includes(byte)) this.answer = Buffer.from(this.#bytes).toString();
    else if (byte === INTERRUPT || (byte === END && this.#bytes.length === 0)) this.answer = null;
    else if (byte === BACKSPACE || byte === DELETE) this.#erase();
    else if (byte === ERASE_LINE) this.#bytes = [];
    else if (byte >= 0x20 || byte === TAB) this.#bytes.push(byte);
  }

  /** A whole letter: in UTF-8 all its bytes except the first begin with the bits 10. */
  #erase(): void {
    const start = this.#bytes.findLastIndex((byte) => (byte & 0xc0) !== 0x80);
    this.#bytes.splice(Math.max(start, 0));
  }
}
