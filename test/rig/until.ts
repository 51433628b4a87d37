// Awaits a fact: checks repeatedly until it holds, and fails at a deadline.

import { setTimeout as sleep } from "node:timers/promises";

/** Resolves with the first value that is neither false, null nor undefined. */
export async function until<T>(
  what: string,
  look: () => T | Promise<T>,
  deadlineMs = 20_000,
): Promise<NonNullable<T>> {
  const deadline = Date.now() + deadlineMs;
  for (;;) {
    const found = await look();
    if (found !== false && found !== null && found !== undefined) return found;
    if (Date.now() > deadline) throw new Error(`not within ${deadlineMs} ms: ${what}`);
    await sleep(10);
  }
}
