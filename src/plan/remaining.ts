// Decides what is left to do in a run, and when the run is over.

import type { MachineState } from "../model/batch-state.js";
import { startsNothing } from "./halt.js";
import { countWaiting } from "./holdings.js";
import { hasOnlyKept } from "./kept-dirs.js";
import type { RunState } from "./run-state.js";
import { isEmpty } from "./stock.js";

/** How long the run waits for an unreachable machine that only has leftovers to clean up. */
const FAREWELL_MS = 5000;

/** True if nothing is in progress and nothing more can be done. */
export function isOver(state: RunState, now: number): boolean {
  if (areAll(state, (machine) => isOut(machine) || isUnneeded(state, machine))) return true;
  // The client still tries to reach some machines, but the run does not wait for these alone.
  const isDispensable = (machine: MachineState) => machine.isGivenUp || isLeftToClean(machine, now);
  return (
    areAll(state, (machine) => isDispensable(machine) || isOut(machine) || isUnneeded(state, machine)) &&
    (!isMoreToDeal(state) || areAll(state, ({ isOpen, isGivenUp }) => !isOpen || isGivenUp))
  );
}

/** Stops at the first machine for which it is false. */
function areAll({ machines }: RunState, predicate: (machine: MachineState) => boolean): boolean {
  for (const machine of machines.values()) if (!predicate(machine)) return false;
  return true;
}

function isLeftToClean(machine: MachineState, now: number): boolean {
  return machine.phase === "lost" && isEmpty(machine) && now - machine.lostAt >= FAREWELL_MS;
}

function isOut({ phase, busy, toRetry }: MachineState): boolean {
  return busy.size + toRetry.size === 0 && (phase === "done" || phase === "failed");
}

function isUnneeded(state: RunState, machine: MachineState): boolean {
  if (machine.busy.has("retry") || machine.toRetry.size > 0) return false;
  return (machine.phase === "new" || machine.phase === "connecting") && !isNeeded(state, machine);
}

export function isNeeded(state: RunState, machine: MachineState): boolean {
  const { hasSpool, isOpen } = machine;
  return (hasSpool && !hasOnlyKept(machine)) || (isOpen && isMoreToDo(state));
}

/** True if jobs wait at the client, or on a machine from which some could be moved. */
function isMoreToDo(state: RunState): boolean {
  const { interrupted, held, stock } = state;
  return interrupted === "no" && (isMoreToDeal(state) || held.size + stock.queueing.size > 0);
}

/** Jobs that wait for other jobs do not count: as long as they do, one of those is in progress or waits itself. */
function isMoreToDeal({ waiting, isMoreToCome, interrupted }: RunState): boolean {
  return (isMoreToCome && interrupted === "no") || waiting.size > 0;
}

/** True if no job is in progress, except on machines that were given up. */
export function isQuietEverywhere(state: RunState): boolean {
  return !isMoreToDeal(state) && state.stock.holding.size === 0;
}

/**
 * True if every job is on its machine, is done, or waits for other jobs or for the end of a pause. From then on the machines need no client for what
 * they have.
 */
function isHandedOver(state: RunState): boolean {
  const isPending = ({ current: { assigned, sent }, overtaken, phase }: MachineState) =>
    assigned.size + sent.size > 0 ||
    phase === "connecting" ||
    (overtaken.queued.size > 0 && (phase === "new" || phase === "ready"));
  return !isAnyToDeal(state) && ![...state.machines.values()].some(isPending);
}

/** In a pause, waiting jobs stay with the client. */
function isAnyToDeal(state: RunState): boolean {
  return state.isPaused ? state.isMoreToCome : isMoreToDeal(state);
}

/** True if all jobs are handed over and, while no job may begin, no reachable machine has a waiting job to give back. */
export function needsNoClient(state: RunState): boolean {
  if (!isHandedOver(state)) return false;
  return (
    !startsNothing(state) ||
    areAll(state, ({ phase, current }) => phase !== "ready" || current.queued.size === 0)
  );
}

/** True if each slot runs a job, has no job to run, or waits for room. `countHeld` counts the slots that wait for room. */
export function isEverySlotSettled(state: RunState, countHeld: (machine: string) => number): boolean {
  return areAll(state, ({ name, phase, slots, current: { queued, running } }) => {
    return phase !== "ready" || queued.size === 0 || running.size + countHeld(name) >= slots;
  });
}

/** What remains if the client leaves now. */
export interface Left {
  /** Without the jobs that are being stopped. */
  readonly running: number;
  readonly stopping: number;
  /** Waiting on a machine, which begins them without a client. */
  readonly queued: number;
  /** Waiting for a client. */
  readonly unsent: number;
  /** Ended, with results still on the machines. */
  readonly ended: number;
}

export function countLeft({ tally, machines }: RunState): Left {
  let [queued, stopping] = [0, 0];
  for (const { current } of machines.values()) {
    queued += current.queued.size;
    for (const { stage } of current.running) if (stage.kind === "running" && stage.isStopping) stopping++;
  }
  return {
    running: tally.running - stopping,
    stopping,
    queued,
    unsent: tally.waiting - queued,
    ended: tally.ended,
  };
}

/** The jobs that wait, at the client or on a machine. */
export function countUnbegun({ waiting, held, stock }: RunState): number {
  let count = waiting.size + held.size;
  for (const machine of stock.queueing) count += countWaiting(machine);
  return count;
}
