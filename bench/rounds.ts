// Runs rounds in turn (peer, ours, peer, ours …), because the machines are small and noisy. Reports medians and ranges.

import { execFile } from "node:child_process";
import { promisify } from "node:util";
import type { Taken } from "./call.js";
import { waitForCalm } from "./calm.js";

const SYNC_WITHIN_MS = 60_000;

export interface Contender {
  /** Not measured. */
  readonly prepare?: () => Promise<void>;
  readonly run: () => Promise<Taken>;
  /** Not measured; throws if the work was not done. */
  readonly check?: () => Promise<void>;
  /** The part of the time that is compared; absent: all of it. */
  readonly countMs?: (taken: Taken) => Promise<number>;
}

export type Round = Taken & { readonly countedMs: number };

/** What each contender took in each round. */
export async function takeTurns<Name extends string>(
  what: string,
  rounds: number,
  contenders: Readonly<Record<Name, Contender>>,
): Promise<Record<Name, Round[]>> {
  const names = Object.keys(contenders) as Name[];
  const taken = Object.fromEntries(names.map((name) => [name, [] as Round[]])) as Record<Name, Round[]>;
  for (let round = 1; round <= rounds; round++) {
    for (const name of names) {
      const one = await takeRound(contenders[name]);
      taken[name].push(one);
      console.error(`${what}: round ${round} of ${rounds}, ${name} ${Math.round(one.countedMs)} ms`);
    }
  }
  return taken;
}

async function takeRound({ prepare, run, check, countMs }: Contender): Promise<Round> {
  await prepare?.();
  // So that a contender does not pay for the writes of the one before.
  await promisify(execFile)("sync", { timeout: SYNC_WITHIN_MS }).catch(() => undefined);
  await waitForCalm();
  const taken = await run();
  await check?.();
  return { ...taken, countedMs: (await countMs?.(taken)) ?? taken.wallMs };
}

export interface Series {
  readonly median: number;
  readonly min: number;
  readonly max: number;
}

export function timeOf(rounds: readonly Round[]): Series {
  return summarize(rounds.map(({ countedMs }) => countedMs));
}

/** From the start of the command to its exit. */
export function wallOf(rounds: readonly Round[]): Series {
  return summarize(rounds.map(({ wallMs }) => wallMs));
}

export function cpuOf(rounds: readonly Round[], jobs: number): Series {
  return summarize(rounds.map(({ cpuMs }) => cpuMs / jobs));
}

export function peakOf(rounds: readonly Round[]): Series {
  return summarize(rounds.map(({ peakBytes }) => peakBytes));
}

export function summarize(values: readonly number[]): Series {
  const sorted = [...values].sort((a, b) => a - b);
  const at = (index: number) => sorted[index] ?? Number.NaN;
  const middle = (sorted.length - 1) / 2;
  return {
    median: (at(Math.floor(middle)) + at(Math.ceil(middle))) / 2,
    min: at(0),
    max: at(sorted.length - 1),
  };
}
