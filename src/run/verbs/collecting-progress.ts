// Reports the progress of a large collection. Small ones finish before a person could read it.

import type { Emit } from "../loop.js";

const WORTH_TELLING_BYTES = 8 << 20;
const TELL_EVERY_MS = 250;

export interface CollectingProgress {
  readonly machine: string;
  /** Rejects if the size cannot be determined: then no progress is reported. */
  readonly weigh: () => Promise<number>;
  readonly emit: Emit;
}

/** Call it with the total number of bytes that have arrived. */
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
