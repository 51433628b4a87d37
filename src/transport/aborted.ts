// Lets work race against an AbortSignal without leaving listeners behind, and ends it after some time.

import { setMaxListeners } from "node:events";
import { deferred } from "./deferred.js";

export interface AbortRace {
  /** Settles as `work` does, or rejects with the signal's reason; `work` itself continues. */
  race<T>(work: Promise<T>): Promise<T>;
  /** Stops listening. */
  done(): void;
}

export function raceAbort(signal: AbortSignal | undefined): AbortRace {
  const { promise, reject } = deferred<never>();
  promise.catch(() => {});
  const onAbort = () => reject(signal?.reason);
  if (signal !== undefined) {
    setMaxListeners(0, signal); // one signal stops a whole run, so many scripts listen to it
    signal.addEventListener("abort", onAbort, { once: true });
    if (signal.aborted) onAbort();
  }
  return {
    race: (work) => Promise.race([work, promise]),
    done: () => signal?.removeEventListener("abort", onAbort),
  };
}

/**
 * Aborts with the signal, or after this time. AbortSignal.any does not keep an AbortSignal.timeout alive: Node 20 collects it as
 * garbage, and then it never comes.
 */
export function orAfter(signal: AbortSignal, ms: number): AbortSignal {
  const late = new AbortController();
  setTimeout(() => late.abort(new DOMException(`not done within ${ms} ms`, "TimeoutError")), ms).unref();
  return AbortSignal.any([signal, late.signal]);
}
