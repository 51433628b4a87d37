// What is left to do in a run, and when nothing is.

import type { MachineState } from "../model/batch-state.js";
import { startsNothing } from "./halt.js";
import { countWaiting } from "./holdings.js";
import { hasOnlyKept } from "./kept-dirs.js";
import type { RunState } from "./run-state.js";
import { isEmpty } from "./stock.js";

/** How long a machine is waited for that is out of reach and has nothing left but what is to be cleaned up. */
const FAREWELL_MS = 5000;

/** Nothing is under way and nothing more can be done. */
export function isOver(state: RunState, now: number): boolean {
  if (areAll(state, (machine) => isOut(machine) || isUnneeded(state, machine))) return true;
  // Some are still being tried, but the run does not wait for them alone.
  const isDispensable = (machine: MachineState) => machine.isGivenUp || isLeftToClean(machine, now);
  return (
    areAll(state, (machine) => isDispensable(machine) || isOut(machine) || isUnneeded(state, machine)) &&
    (!isMoreToDeal(state) || areAll(state, ({ isOpen, isGivenUp }) => !isOpen || isGivenUp))
  );
}

/** Ends with the first that is not. */
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

/** Waiting jobs, here or on a machine that might be relieved of some. */
function isMoreToDo(state: RunState): boolean {
  return state.interrupted === "no" && (isMoreToDeal(state) || state.stock.queueing.size > 0);
}

function isMoreToDeal({ waiting, isMoreToCome, interrupted }: RunState): boolean {
  return (isMoreToCome && interrupted === "no") || waiting.size > 0;
}

/** No job is on its way any more, but for those on machines that were given up. */
export function isQuietEverywhere(state: RunState): boolean {
  return !isMoreToDeal(state) && state.stock.holding.size === 0;
}

/** From here on the machines need no client: every job is on its machine, or done. */
function isHandedOver(state: RunState): boolean {
  const isPending = ({ current: { assigned, sent }, overtaken, phase }: MachineState) =>
    assigned.size + sent.size > 0 ||
    phase === "connecting" ||
    (overtaken.queued.size > 0 && (phase === "new" || phase === "ready"));
  return !isMoreToDeal(state) && ![...state.machines.values()].some(isPending);
}

/** Handed over, and while nothing is to begin, nothing waits on a machine that could be asked to give it back. */
export function needsNoClient(state: RunState): boolean {
  if (!isHandedOver(state)) return false;
  return (
    !startsNothing(state) ||
    areAll(state, ({ phase, current }) => phase !== "ready" || current.queued.size === 0)
  );
}

/** Each slot runs a job, has none to run, or is one of those that wait for room, of which `countHeld` has the number. */
export function isEverySlotSettled(state: RunState, countHeld: (machine: string) => number): boolean {
  return areAll(state, ({ name, phase, slots, current: { queued, running } }) => {
    return phase !== "ready" || queued.size === 0 || running.size + countHeld(name) >= slots;
  });
}

/** What a client that leaves now leaves behind. */
export interface Left {
  /** Without those that are being stopped. */
  readonly running: number;
  readonly stopping: number;
  /** They wait on a machine, which begins them by itself. */
  readonly queued: number;
  /** They wait for a client. */
  readonly unsent: number;
  /** Their results are still on their machines. */
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

/** With this computer, or on a machine. */
export function countUnbegun({ waiting, stock }: RunState): number {
  let count = waiting.size;
  for (const machine of stock.queueing) count += countWaiting(machine);
  return count;
}
