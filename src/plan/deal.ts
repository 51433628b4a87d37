// Which machine each waiting job goes to: always the one with the least work per slot, so that early jobs start early
// everywhere and a machine that has run dry is served first.

import { isUnbegun } from "../model/attempt.js";
import type { MachineState, TrackedJob } from "../model/batch-state.js";
import type { News } from "../model/event.js";
import { startsNothing } from "./halt.js";
import { homeOf } from "./kept-dirs.js";
import type { RunState } from "./run-state.js";
import { isServedBy, servedBy } from "./served.js";

/** How long the first machine waits for the others to answer, so that each gets its share at once. */
const PATIENCE_MS = 2000;
/** How long until it gets at least one job for each of its slots. */
const HUNGER_MS = 200;

/** All of the waiting jobs go out at once, so that from then on no client is needed. */
export function deal(state: RunState, now: number): News[] {
  const { unheard, ready, total } = state.stock;
  if (state.waiting.size === 0 || ready.size === 0 || startsNothing(state)) return [];
  const waitedMs = state.firstReadyAt === null ? 0 : now - state.firstReadyAt;
  const isPatient = unheard.size > 0 && waitedMs < PATIENCE_MS;
  if (isPatient && waitedMs < HUNGER_MS) return [];
  const most = isPatient ? total.slots - total.jobs : Number.POSITIVE_INFINITY;
  return [...dealOut(state, most)].map(([{ name }, hand]) => ({
    kind: "jobs-assigned",
    machine: name,
    jobs: hand.map(({ job }) => job.id),
    attempts: hand.map(({ lastNumber }) => lastNumber + 1),
  }));
}

/** O(log m) per job. A job that no machine may have stays. */
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
    const machine = isHomeFree ? ready.takeSeatOf(home) : ready.takeSeat(tracked.avoids, isBarred);
    if (machine === null) continue;
    const hand = hands.get(machine);
    if (hand) hand.push(tracked);
    else hands.set(machine, [tracked]);
  }
  // Nothing has happened yet: the machines get back the load that they have.
  for (const machine of hands.keys()) ready.put(machine);
  return hands;
}

/** The line's earlier version may wait on a machine, and could still begin there. */
function isHeld({ jobs, machines }: RunState, { after }: TrackedJob): boolean {
  const earlier = after === null ? undefined : jobs.get(after);
  if (earlier?.fate.kind !== "dropped") return false;
  return earlier.attempts.some((attempt) => {
    const machine = machines.get(attempt.machine);
    return isUnbegun(attempt) && machine !== undefined && machine.phase !== "failed" && !machine.isGivenUp;
  });
}
