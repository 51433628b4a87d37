// The ssh process that holds the connection to one machine for all its users.

import { existsSync } from "node:fs";
import { createInterface } from "node:readline";
import { deferred } from "../deferred.js";
import { type Keeper, keepSsh } from "./openssh-keeper.js";
import { isReady, lastWords } from "./openssh-log.js";

const KEPT_LINES = 2000;
const KEPT_WORDS = 20;

export interface HolderOptions {
  /** Private to this connection. */
  readonly dir: string;
  readonly controlPath: string;
  /** The command line of ssh. */
  readonly words: readonly string[];
  readonly env: NodeJS.ProcessEnv;
  /** Gets the lines of `ssh -v` until the connection can be used. */
  readonly onLine: (line: string) => void;
}

export class OpensshHolder {
  /** Resolves when the connection can be used. */
  readonly ready: Promise<void>;
  /** Resolves when ssh has ended, with its last message. */
  readonly gone: Promise<string>;
  /** Everything it printed until the connection could be used. */
  readonly lines: string[] = [];
  readonly #keeper: Keeper;
  #reason: string | null = null;

  constructor({ dir, controlPath, words, env, onLine }: HolderOptions) {
    this.#keeper = keepSsh(words, dir, env);
    const ready = deferred<void>();
    this.ready = ready.promise;
    const recent: string[] = [];
    let isUsable = false;
    createInterface({ input: this.#keeper.stderr }).on("line", (line) => {
      if (isUsable) return keepWords(recent, line);
      if (this.lines.length < KEPT_LINES) this.lines.push(line);
      onLine(line);
      // A ProxyCommand may be an ssh that prints the same line.
      isUsable = isReady(line) && existsSync(controlPath);
      if (isUsable) ready.resolve();
    });
    this.gone = this.#keeper.ended.then(() => this.#reason ?? lastWords(isUsable ? recent : this.lines));
  }

  /** Resolves when it has ended completely. */
  async end(reason: string): Promise<void> {
    this.#reason ??= reason;
    await this.#keeper.end();
    await this.gone;
  }
}

function keepWords(recent: string[], line: string): void {
  if (line.startsWith("debug")) return;
  recent.push(line);
  if (recent.length > KEPT_WORDS) recent.shift();
}
