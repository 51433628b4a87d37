// Retries with growing, random pauses, so that many clients do not connect at once.

import { setTimeout as sleep } from "node:timers/promises";

const FIRST_PAUSE_MS = 200;
const LONGEST_PAUSE_MS = 1500;

/** Rejects with the first error that is not worth a retry, with the error of the last try, or when the signal aborts. */
export async function retrying<T>(
  signal: AbortSignal,
  action: () => Promise<T>,
  isWorthIt: (error: unknown, tries: number) => boolean = isRetryable,
): Promise<T> {
  let pauseMs = FIRST_PAUSE_MS;
  for (let tries = 1; ; tries++, pauseMs = Math.min(pauseMs * 2, LONGEST_PAUSE_MS)) {
    try {
      return await action();
    } catch (error) {
      signal.throwIfAborted();
      if (!isWorthIt(error, tries)) throw error;
    }
    await pause(pauseMs * (0.5 + Math.random() / 2), signal);
  }
}

export function isRetryable(error: unknown): error is Error {
  return error instanceof Error && "isRetryable" in error && error.isRetryable === true;
}

/** A server with too many logins at once drops some; the next one may succeed. */
export function wasDropped(error: unknown): boolean {
  return error instanceof Error && "kind" in error && error.kind === "dropped";
}

/** Ends early, without an error, when the signal aborts. */
export async function pause(ms: number, signal: AbortSignal): Promise<void> {
  await sleep(ms, undefined, { signal }).catch(() => undefined);
}
