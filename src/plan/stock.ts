// Indexes the machines by the questions that decisions ask, so that a decision need not look at every machine.
// Everything in it is derived from the machines, and updated for those that changed.

import type { MachineState } from "../model/batch-state.js";
import { Gathering, isWorthATrip } from "./gathering.js";
import { countWaiting } from "./holdings.js";
import { LoadHeap } from "./load-heap.js";

/** Each question is one bit of the answers of a machine. */
const QUESTIONS = {
  /** May get jobs and has room for them. */
  takers: 1 << 0,
  /** A taker with idle slots and no job left to begin. */
  dry: 1 << 1,
  /** A taker with waiting jobs that could be taken back. */
  movable: 1 << 2,
  /** Waiting jobs are being taken back from it. */
  relieved: 1 << 3,
  /** Has waiting jobs. */
  queueing: 1 << 4,
  /** Has not answered yet. */
  unheard: 1 << 5,
  /** Jobs are on the way to the machine or from it. Does not include jobs of a machine that was given up. */
  holding: 1 << 6,
  /** May need a step that concerns only this machine. */
  due: 1 << 7,
  /** Open, but has no jobs. It is released when the batch's last job is collected. */
  idle: 1 << 8,
};

type Question = keyof typeof QUESTIONS;
const ALL = Object.entries(QUESTIONS) as [Question, number][];

function answersOf(machine: MachineState): number {
  const waiting = countWaiting(machine);
  const isTaker = canTakeJobs(machine);
  return (
    (isTaker ? QUESTIONS.takers : 0) |
    (isTaker && waiting === 0 && hasIdleSlots(machine) ? QUESTIONS.dry : 0) |
    (isTaker && waiting > 0 && isSettled(machine) ? QUESTIONS.movable : 0) |
    (machine.busy.has("take-back") ? QUESTIONS.relieved : 0) |
    (waiting > 0 ? QUESTIONS.queueing : 0) |
    (machine.phase === "new" || machine.phase === "connecting" ? QUESTIONS.unheard : 0) |
    (isHolding(machine, waiting) ? QUESTIONS.holding : 0) |
    (isDue(machine) ? QUESTIONS.due : 0) |
    (waiting === 0 && isIdle(machine) ? QUESTIONS.idle : 0)
  );
}

function hasIdleSlots({ current, slots, busy }: MachineState): boolean {
  return current.running.size < slots && !busy.has("hand-over");
}

function isHolding(machine: MachineState, waiting: number): boolean {
  if (machine.toRetry.size > 0) return true;
  return !machine.isGivenUp && machine.phase !== "failed" && (waiting > 0 || hasBegunJobs(machine));
}

function isDue(machine: MachineState): boolean {
  const { phase, busy, current, overtaken, toRetry } = machine;
  if (toRetry.size > 0 || phase === "new" || phase === "lost") return true;
  if (phase !== "ready") return false;
  if (machine.restsToTry.size > 0 && !busy.has("collect-rest")) return true;
  if (!machine.isOpen || (hasResults(machine) && isWorthATrip(machine))) return true;
  if (busy.has("hand-over")) return false;
  if (current.assigned.size + current.sent.size > 0) return true;
  if (overtaken.queued.size > 0 && !busy.has("take-back")) return true;
  return hasFilesToFree(machine) && !isLingering(machine);
}

function isIdle(machine: MachineState): boolean {
  if (machine.phase !== "ready" || !machine.isOpen || !isEmpty(machine)) return false;
  return machine.toRetry.size + machine.busy.size === 0;
}

export interface Stock extends Readonly<Record<Question, Set<MachineState>>> {
  /** Machines that changed since stock was last taken. */
  readonly changed: Set<MachineState>;
  /** Since when at least one machine needs more jobs. */
  dryAt: number | null;
  /** Machines with a few results of short jobs and more to come, and machines that linger. */
  readonly gathering: Gathering;
  /** Takers that may be given jobs now. */
  readonly ready: LoadHeap;
  /** The load of all takers together. */
  readonly total: Load;
  /** What was true of each machine when stock was last taken, by the order of the machines. */
  readonly noted: Noted[];
}

interface Load {
  jobs: number;
  slots: number;
}

interface Noted extends Load {
  answers: number;
}

export function newStock(machines: Iterable<MachineState>): Stock {
  return {
    takers: new Set(),
    dry: new Set(),
    movable: new Set(),
    relieved: new Set(),
    queueing: new Set(),
    unheard: new Set(),
    holding: new Set(),
    due: new Set(),
    idle: new Set(),
    changed: new Set(machines),
    dryAt: null,
    gathering: new Gathering(),
    ready: new LoadHeap(),
    total: { jobs: 0, slots: 0 },
    noted: [],
  };
}

/** Call it after events and before a decision. O(log m) for each machine that changed. */
export function takeStock(stock: Stock, now: number): void {
  for (const machine of stock.changed) {
    const noted = notedOf(stock, machine);
    answerAll(stock, machine, noted);
    if (isGathering(machine) || isLingering(machine)) stock.gathering.put(machine);
    else stock.gathering.remove(machine);
    if (canBeDealtTo(machine)) stock.ready.put(machine);
    else stock.ready.remove(machine);
    count(stock.total, machine, noted);
  }
  stock.changed.clear();
  stock.dryAt = stock.dry.size === 0 ? null : (stock.dryAt ?? now);
}

function notedOf({ noted }: Stock, machine: MachineState): Noted {
  const known = noted[machine.order];
  if (known !== undefined) return known;
  const added = { jobs: 0, slots: 0, answers: 0 };
  noted[machine.order] = added;
  return added;
}

function answerAll(stock: Stock, machine: MachineState, noted: Noted): void {
  const answers = answersOf(machine);
  const changed = answers ^ noted.answers;
  // Most events change no answer.
  if (changed === 0) return;
  noted.answers = answers;
  for (const [question, bit] of ALL) {
    if ((changed & bit) === 0) continue;
    if ((answers & bit) === 0) stock[question].delete(machine);
    else stock[question].add(machine);
  }
}

function count(total: Load, machine: MachineState, noted: Noted): void {
  const isCounted = canTakeJobs(machine);
  const jobs = isCounted ? countWaiting(machine) + machine.current.running.size : 0;
  const slots = isCounted ? machine.slots : 0;
  total.jobs += jobs - noted.jobs;
  total.slots += slots - noted.slots;
  noted.jobs = jobs;
  noted.slots = slots;
}

function isGathering(machine: MachineState): boolean {
  return machine.phase === "ready" && hasResults(machine) && !isWorthATrip(machine);
}

/** It has no jobs, and keeps the files of its last ones for a moment: if all machines end now, they go with the spool. */
export function isLingering(machine: MachineState): boolean {
  return machine.phase === "ready" && machine.isOpen && hasFilesToFree(machine) && isEmpty(machine);
}

/** Not while jobs are handed over that may have arrived before: the hand-over would restore the freed files. */
export function hasFilesToFree({ toFree, busy }: MachineState): boolean {
  return toFree.size > 0 && !busy.has("free") && !busy.has("hand-over");
}

function hasResults({ current, overtaken, busy }: MachineState): boolean {
  return current.ended.size + overtaken.ended.size > 0 && !busy.has("collect");
}

/** Not while jobs are handed over or taken back: the machine's answer could be mistaken for one about a later attempt. */
function canBeDealtTo(machine: MachineState): boolean {
  return canTakeJobs(machine) && !machine.busy.has("hand-over") && !machine.busy.has("take-back");
}

function canTakeJobs({ phase, isOpen, slots }: MachineState): boolean {
  return phase === "ready" && isOpen && slots > 0;
}

/** Overtaken attempts are taken back as well. With two requests for one line at once, the later answer would be outdated. */
function isSettled({ busy, current, overtaken }: MachineState): boolean {
  if (busy.has("take-back") || busy.has("hand-over")) return false;
  return current.assigned.size + current.sent.size + overtaken.queued.size === 0;
}

/** True if the machine has nothing that is still wanted. */
export function isEmpty(machine: MachineState): boolean {
  const { queued, running, ended } = machine.overtaken;
  if (countWaiting(machine) > 0 || hasBegunJobs(machine)) return false;
  return queued.size + running.size + ended.size === 0;
}

function hasBegunJobs({ current: { running, ended } }: MachineState): boolean {
  return running.size + ended.size > 0;
}
