// How far a large collection is. Small ones are home before anybody could read it.

import type { Emit } from "../loop.js";

const WORTH_TELLING_BYTES = 8 << 20;
const TELL_EVERY_MS = 250;

export interface CollectingProgress {
  readonly machine: string;
  /** Rejects where it cannot be found out: then nothing is told. */
  readonly weigh: () => Promise<number>;
  readonly emit: Emit;
}

/** To be called with all that has arrived so far. */
export function progressTeller({ machine, weigh, emit }: CollectingProgress): (bytes: number) => void {
  let totalBytes = Number.NaN;
  let isAsked = false;
  let toldAt = Number.NEGATIVE_INFINITY;
  return (receivedBytes) => {
    if (receivedBytes < WORTH_TELLING_BYTES) return;
    if (!isAsked) {
      isAsked = true;
      weigh().then(
        (bytes) => {
          totalBytes = bytes;
        },
        () => {},
      );
    }
    if (!(totalBytes > 0) || performance.now() - toldAt < TELL_EVERY_MS) return;
    toldAt = performance.now();
    emit({ kind: "collecting", machine, receivedBytes, totalBytes: Math.max(totalBytes, receivedBytes) });
  };
}
