// Takes jobs back from a machine. After a failed hand-over this settles which jobs have arrived: only jobs that did not
// and never will arrive go to other machines.

import { LinkLost } from "../../fleet/link.js";
import { retrying } from "../../fleet/retrying.js";
import type { JobId } from "../../model/job.js";
import { RemoteError } from "../../remote/engine/remote-error.js";
import { takeBack as takeBackAlone } from "../../remote/spool/take-back.js";
import type { Emit } from "../loop.js";
import { type ExpectedError, isExpected } from "./expected-error.js";
import { jobsOf, type Known } from "./known.js";
import type { MachineLink } from "./machine-link.js";

/** About 20 s. */
const ASKS = 20;

/** For a job in neither list, the machine could not tell. */
export interface TakenJobs {
  readonly taken: readonly number[];
  readonly begun: readonly number[];
}

export async function takeBack(known: Known, link: MachineLink, jobs: readonly JobId[]): Promise<TakenJobs> {
  const { place, signal } = link;
  const keys = known.keys(link.spec.name, jobs);
  const { taken, begun } = link.hasSpool
    ? await (await link.control()).takeBack(keys)
    : await takeBackAlone(link.session, { place, keys, signal });
  return { taken: jobsOf(taken), begun: jobsOf(begun) };
}

/** Asks until the machine knows about every job. Rejects if it cannot be asked: then the jobs stay with it. */
export async function settleDoubt(
  known: Known,
  link: MachineLink,
  { jobs, error, emit }: { jobs: readonly JobId[]; error: ExpectedError; emit: Emit },
): Promise<TakenJobs> {
  const losses = link.watchLosses();
  const taken: number[] = [];
  const begun: number[] = [];
  let left = jobs;
  const askOnce = async () => {
    const answer = await takeBack(known, link, left);
    taken.push(...answer.taken);
    begun.push(...answer.begun);
    const settled = new Set([...answer.taken, ...answer.begun]);
    left = left.filter((id) => !settled.has(id));
    if (left.length > 0) throw new RemoteError("its disk may be full");
  };
  const isWorthAsking = (failure: unknown, tries: number) => {
    if (!isExpected(failure) || tries >= ASKS) return false;
    const message = `${link.spec.name}: ${error.message}; asking it which jobs have arrived: ${failure.message}`;
    if (tries === 1) emit({ kind: "warning", message });
    return true;
  };
  let isFirst = true;
  try {
    await retrying(
      link.signal,
      async () => {
        if (!isFirst && (await losses.hasLost())) throw new LinkLost();
        isFirst = false;
        await askOnce();
      },
      isWorthAsking,
    );
  } catch (failure) {
    if (!isExpected(failure)) throw failure;
    const message = `${error.message}; it cannot be asked which jobs have arrived: ${failure.message}`;
    throw new RemoteError(message, "type the same command again to ask again", { cause: failure });
  }
  return { taken, begun };
}
