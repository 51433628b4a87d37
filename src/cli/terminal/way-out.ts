// How a person leaves a view: by a key, which is success, or as by a signal.

import { ExitCode } from "../../errors.js";
import { onEndingSignals } from "./ending-signals.js";

/** Owns listeners; close() it. */
export class WayOut {
  readonly #leaving = new AbortController();
  readonly #unlisten = onEndingSignals((signal) => this.leave(signal));
  #code: ExitCode = ExitCode.Success;

  /** Aborts when the person leaves. */
  get signal(): AbortSignal {
    return this.#leaving.signal;
  }

  get code(): ExitCode {
    return this.#code;
  }

  leave(how: string): void {
    if (how !== "key") this.#code = ExitCode.Interrupted;
    this.#leaving.abort();
  }

  close(): void {
    this.#leaving.abort();
    this.#unlisten();
  }
}
