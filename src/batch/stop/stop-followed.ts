// Stops jobs of a batch that a client follows, by asking that client. If it cannot be asked, its machines are: then the
// client collects the results, and its record has the outcome of each job.

import { setTimeout as sleep } from "node:timers/promises";
import { UserError } from "../../errors.js";
import type { JobId } from "../../model/job.js";
import { keyOn } from "../../plan/run-state.js";
import type { Control } from "../../remote/spool/control.js";
import type { Results } from "../../run/home/results.js";
import type { Connector } from "../connector.js";
import { type BatchHere, loadBatch } from "../find/batches-here.js";
import { reachFollower } from "../follower/ask-follower.js";
import { withControl } from "../machine/reach.js";
import { isOpen, type StoppedJob, stopReport } from "./stop-jobs.js";

const POLL_MS = 200;

export interface StopFollowed {
  readonly here: BatchHere;
  /** Null: all of the batch. */
  readonly jobs: readonly JobId[] | null;
  readonly results: Results;
  readonly connect: Connector;
}

/** Throws UserError if a machine cannot be asked, or if the client that follows the batch leaves. */
export async function stopFollowed(asked: StopFollowed): Promise<readonly StoppedJob[]> {
  const follower = await reachFollower(asked.results, asked.here.stem);
  if (follower === null) return stopThroughMachines(asked);
  try {
    return await follower.stop(asked.jobs);
  } finally {
    follower.close();
  }
}

async function stopThroughMachines({ here, jobs, results, connect }: StopFollowed): Promise<StoppedJob[]> {
  const targets = (jobs ?? [...here.state.jobs.keys()]).filter((id) => isOpen(here.state.jobs.get(id)));
  const places = machinesOf(here, targets);
  // A client may be about to give jobs to another machine: only the client can stop them all, and any machine can pass
  // that on.
  const chosen = jobs === null ? new Map([...places].slice(0, 1)) : places;
  await onMachines(here, chosen, connect, async (control, keys) => {
    if (jobs === null) await control.halt();
    else refuseMissed(await control.stop(keys));
  });
  return awaitRecord(here, targets, results);
}

function refuseMissed(missed: readonly string[]): void {
  if (missed.length === 0) return;
  throw new UserError("a job is being moved to another machine", { hint: "type the same command again" });
}

/** Queued or running jobs, as far as the record knows, by machine. */
function machinesOf({ state }: BatchHere, jobs: readonly JobId[]): Map<string, JobId[]> {
  const places = new Map<string, JobId[]>();
  for (const id of jobs) {
    const fate = state.jobs.get(id)?.fate;
    if (fate?.kind === "tried") places.set(fate.machine, [...(places.get(fate.machine) ?? []), id]);
  }
  return places;
}

async function onMachines(
  { batch, machines, state }: BatchHere,
  places: ReadonlyMap<string, readonly JobId[]>,
  connect: Connector,
  act: (control: Control, keys: readonly string[]) => Promise<void>,
): Promise<void> {
  for (const [name, jobs] of places) {
    const machine = machines.get(name);
    if (machine === undefined) continue;
    const keys = jobs.map((id) => keyOn(state, name, id));
    await withControl(machine, batch, connect, (control) => act(control, keys));
  }
}

async function awaitRecord(
  here: BatchHere,
  targets: readonly JobId[],
  results: Results,
): Promise<StoppedJob[]> {
  for (;;) {
    const now = loadBatch(results, here.stem);
    const report = now && stopReport(now.state, targets);
    if (report) return report;
    if (now?.holder?.pid !== here.holder?.pid) {
      throw new UserError("the client that followed the batch has left before the jobs had ended", {
        hint: "type the same command again",
      });
    }
    await sleep(POLL_MS);
  }
}
