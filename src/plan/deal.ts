// Chooses the machine for each waiting job: always the one with the least work per slot. So early jobs start early on
// every machine, and a machine without work comes first.

import { isUnbegun } from "../model/attempt.js";
import type { MachineState, TrackedJob } from "../model/batch-state.js";
import type { News } from "../model/event.js";
import type { JobId } from "../model/job.js";
import { attemptsOf } from "../model/standing.js";
import { startsNothing } from "./halt.js";
import { idleSlots } from "./holdings.js";
import { homeOf } from "./kept-dirs.js";
import type { RunState } from "./run-state.js";
import { isServedBy, servedBy } from "./served.js";

/** How long the first machine waits for the other machines to answer, so that each gets its share at once. */
const PATIENCE_MS = 2000;
/** How long a machine waits before it gets at least one job per slot. */
const HUNGER_MS = 200;

/** Deals out all waiting jobs at once, so that the machines need no client from then on. */
export function deal(state: RunState, now: number): News[] {
  const { unheard, ready } = state.stock;
  if (state.waiting.size === 0 || ready.size === 0 || startsNothing(state)) return [];
  const waitedMs = state.firstReadyAt === null ? 0 : now - state.firstReadyAt;
  const isPatient = unheard.size > 0 && waitedMs < PATIENCE_MS;
  if (isPatient && waitedMs < HUNGER_MS) return [];
  return [...dealOut(state, mostToDeal(state, isPatient))].map(([{ name }, hand]) => ({
    kind: "jobs-assigned",
    machine: name,
    jobs: hand.map(({ job }) => job.id),
    attempts: hand.map(({ lastNumber }) => lastNumber + 1),
  }));
}

/** While some machines give jobs back, only idle slots get jobs: otherwise the first machines would get them all. */
function mostToDeal({ stock: { total, relieved, dry } }: RunState, isPatient: boolean): number {
  if (isPatient) return total.slots - total.jobs;
  return relieved.size === 0 ? Number.POSITIVE_INFINITY : idleSlots(dry);
}

/** O(log m) per job. A job that no machine may have stays in `waiting`. */
function dealOut(state: RunState, most: number): Map<MachineState, TrackedJob[]> {
  const { ready, takers } = state.stock;
  const hands = new Map<MachineState, TrackedJob[]>();
  let count = 0;
  for (const id of servedBy(state, takers, state.waiting)) {
    const tracked = state.jobs.get(id) as TrackedJob;
    if (isHeld(state, tracked)) continue;
    const isBarred = (machine: MachineState) => machine.attempts.has(id) || !isServedBy(state, machine, id);
    const home = homeOf(state, tracked);
    const isHomeFree = home !== null && !isBarred(home);
    if (isHomeFree && !ready.has(home)) continue;
    if (++count > most) break;
    const machine = isHomeFree
      ? ready.takeSeatOf(home)
      : (seatWhereMoreIsFree(state, id, isBarred) ?? ready.takeSeat(tracked.traits.avoids, isBarred));
    if (machine === null) continue;
    const hand = hands.get(machine);
    if (hand) hand.push(tracked);
    else hands.set(machine, [tracked]);
  }
  // Restores the real loads, because nothing was dealt yet.
  for (const machine of hands.keys()) ready.put(machine);
  return hands;
}

/** Null if the job did not run out of memory, or the machine with most room cannot have it now. */
function seatWhereMoreIsFree(
  { grown, machines, stock }: RunState,
  id: JobId,
  isBarred: (machine: MachineState) => boolean,
): MachineState | null {
  const name = grown.get(id)?.prefers ?? null;
  const preferred = name === null ? undefined : machines.get(name);
  return preferred === undefined || isBarred(preferred) ? null : stock.ready.takeSeatOf(preferred);
}

/** True while an earlier version of the job's line waits on a machine, where it could still begin. */
function isHeld({ jobs, machines }: RunState, { traits: { after } }: TrackedJob): boolean {
  const earlier = after === null ? undefined : jobs.get(after);
  if (earlier?.fate.kind !== "dropped") return false;
  return attemptsOf(earlier).some((attempt) => {
    const machine = machines.get(attempt.machine);
    return isUnbegun(attempt) && machine !== undefined && machine.phase !== "failed" && !machine.isGivenUp;
  });
}
