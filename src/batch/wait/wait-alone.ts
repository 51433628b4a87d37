// Waits for jobs of a batch that no client follows, by asking the machines that have them. It writes nothing, so that a client can
// take the batch over at any time; that ends the waiting here.

import { pause } from "../../fleet/retrying.js";
import type { BatchState } from "../../model/batch-state.js";
import type { JobId } from "../../model/job.js";
import { placeOf } from "../../remote/engine/layout.js";
import type { Results } from "../../run/home/results.js";
import type { Connector } from "../connector.js";
import { type BatchHere, readBatchHolder } from "../find/batches-here.js";
import { OpenJobs } from "./open-jobs.js";
import { type MachineEnd, watchMachine } from "./watch-machine.js";

const LOOK_FOR_CLIENT_MS = 500;

export interface WaitMeans {
  readonly results: Results;
  readonly connect: Connector;
  readonly onNote: (message: string) => void;
  /** What is known of the batch has changed. */
  readonly onProgress: (known: { readonly stem: string; readonly state: BatchState }) => void;
  /** Its reason is what the waiting rejects with. */
  readonly signal: AbortSignal;
}

export interface WaitedAlone {
  /** A client has come: it knows more. */
  readonly hasClient: boolean;
  /** A machine has nothing of the batch any more: a client may have come and gone. */
  readonly isAnyGone: boolean;
  /** Why each job that is still open will not go on by itself. */
  readonly reasons: ReadonlyMap<JobId, string>;
}

/** Brings the state of the batch up to date until all of `jobs` have ended, or those that are left cannot. */
export async function waitAlone(
  here: BatchHere,
  jobs: readonly JobId[],
  means: WaitMeans,
): Promise<WaitedAlone> {
  const open = new OpenJobs(here, jobs);
  const over = new AbortController();
  const signal = AbortSignal.any([means.signal, over.signal]);
  const look = () => {
    means.onProgress(here);
    if (open.isSettled) over.abort();
  };
  look();
  const client = untilClient(means.results, here.stem, signal).finally(() => over.abort());
  try {
    const watches = [...open.places].map(([name, sent]) =>
      watchOne({ here, open, name, sent, look, means, signal }),
    );
    const ends = await Promise.all(watches);
    means.signal.throwIfAborted();
    over.abort();
    return { hasClient: await client, isAnyGone: ends.includes("gone"), reasons: open.reasons };
  } finally {
    over.abort();
  }
}

interface OneWatch {
  readonly here: BatchHere;
  readonly open: OpenJobs;
  readonly name: string;
  readonly sent: readonly string[];
  readonly look: () => void;
  readonly means: WaitMeans;
  readonly signal: AbortSignal;
}

async function watchOne({ here, open, name, sent, look, means, signal }: OneWatch): Promise<MachineEnd> {
  const machine = here.machines.get(name);
  if (machine === undefined) {
    open.giveUp(name, `the record has no address of ${name}`);
    return "still";
  }
  const end = await watchMachine({
    machine,
    place: placeOf(here.batch, machine),
    connect: means.connect,
    sent,
    onEvents: (events) => {
      open.take(name, events);
      look();
    },
    onMissing: (missing) => {
      open.noteMissing(name, missing);
      look();
    },
    onNote: means.onNote,
    signal,
  });
  if (end === "gone") open.giveUp(name, `what was handed over to ${name} is not there any more`);
  if (end === "still") open.giveUp(name, `nothing runs on ${name} any more, which may have been rebooted`);
  look();
  return end;
}

/** Resolves with true once a client follows the batch, and with false when the signal comes. */
async function untilClient(results: Results, stem: string, signal: AbortSignal): Promise<boolean> {
  while (!signal.aborted) {
    if (readBatchHolder(results, stem) !== null) return true;
    await pause(LOOK_FOR_CLIENT_MS, signal);
  }
  return false;
}
