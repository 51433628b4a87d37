// Other users share this computer: waits a little until the processor is idle, and reports how idle it was.

import { cpus } from "node:os";
import { setTimeout as sleep } from "node:timers/promises";

const LOOK_MS = 300;
const CALM_SHARE = 0.1;
const PATIENCE_MS = 15_000;

/** The load of the processor just before each round, from 0 to 1. */
const shares: number[] = [];

/** Call it while nothing of the benchmark runs. */
export async function waitForCalm(): Promise<void> {
  const deadline = Date.now() + PATIENCE_MS;
  let share = await lookAtProcessor();
  while (share > CALM_SHARE && Date.now() < deadline) share = await lookAtProcessor();
  shares.push(share);
}

export function describeCalm(): string {
  const restless = shares.filter((share) => share > CALM_SHARE).length;
  return `before ${restless} of ${shares.length} rounds, other programs kept the processor more than ${100 * CALM_SHARE} % busy`;
}

async function lookAtProcessor(): Promise<number> {
  const before = idleMs();
  const begun = performance.now();
  await sleep(LOOK_MS);
  const idleShare = (idleMs() - before) / (performance.now() - begun) / cpus().length;
  return 1 - Math.min(1, idleShare);
}

function idleMs(): number {
  return cpus().reduce((sum, { times }) => sum + times.idle, 0);
}
