// Indexes the machines by the questions that decisions ask, so that a decision need not look at every machine.
// Everything in it is derived from the machines, and updated for those that changed.

import type { MachineState } from "../model/batch-state.js";
import { Gathering, isWorthATrip } from "./gathering.js";
import { countWaiting } from "./holdings.js";
import { LoadHeap } from "./load-heap.js";

const QUESTIONS = {
  /** May get jobs and has room for them. */
  takers: canTakeJobs,
  /** A taker with idle slots and no job left to begin. */
  dry: (machine, waiting) =>
    waiting === 0 &&
    canTakeJobs(machine) &&
    machine.current.running.size < machine.slots &&
    !machine.busy.has("hand-over"),
  /** A taker with waiting jobs that could be taken back. */
  movable: (machine, waiting) => waiting > 0 && canTakeJobs(machine) && isSettled(machine),
  /** Waiting jobs are being taken back from it. */
  relieved: ({ busy }) => busy.has("take-back"),
  /** Has waiting jobs. */
  queueing: (_, waiting) => waiting > 0,
  /** Has not answered yet. */
  unheard: ({ phase }) => phase === "new" || phase === "connecting",
  /** Jobs are on the way to the machine or from it. Does not include jobs of a machine that was given up. */
  holding: (machine, waiting) =>
    machine.toRetry.size > 0 ||
    (!machine.isGivenUp && machine.phase !== "failed" && (waiting > 0 || hasBegunJobs(machine))),
  /** May need a step that concerns only this machine. */
  due: (machine) => {
    const { phase, busy, current, overtaken, toRetry } = machine;
    if (toRetry.size > 0 || phase === "new" || phase === "lost") return true;
    if (phase !== "ready") return false;
    if (machine.restsToTry.size > 0 && !busy.has("collect-rest")) return true;
    if (!machine.isOpen || (hasResults(machine) && isWorthATrip(machine))) return true;
    if (busy.has("hand-over")) return false;
    if (current.assigned.size + current.sent.size > 0) return true;
    if (overtaken.queued.size > 0 && !busy.has("take-back")) return true;
    return hasFilesToFree(machine) && !isLingering(machine);
  },
  /** Open, but has no jobs. It is released when the batch's last job is collected. */
  idle: (machine, waiting) =>
    waiting === 0 &&
    machine.phase === "ready" &&
    machine.isOpen &&
    isEmpty(machine) &&
    machine.toRetry.size + machine.busy.size === 0,
} satisfies Record<string, Ask>;

/** `waiting`: how many jobs wait on the machine. */
type Ask = (machine: MachineState, waiting: number) => boolean;

type Question = keyof typeof QUESTIONS;
const ALL = Object.entries(QUESTIONS) as [Question, Ask][];

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
  /** The answers for each machine when stock was last taken. */
  readonly noted: Map<MachineState, Noted>;
}

interface Load {
  jobs: number;
  slots: number;
}

interface Noted extends Load {
  /** The answers to all questions, in their order. */
  readonly answers: boolean[];
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
    noted: new Map(),
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
  const known = noted.get(machine);
  if (known !== undefined) return known;
  const added = { jobs: 0, slots: 0, answers: ALL.map(() => false) };
  noted.set(machine, added);
  return added;
}

/** Most answers stay the same. */
function answerAll(stock: Stock, machine: MachineState, { answers }: Noted): void {
  const waiting = countWaiting(machine);
  for (let index = 0; index < ALL.length; index++) {
    const [question, isTrueOf] = ALL[index] as (typeof ALL)[number];
    const answer = isTrueOf(machine, waiting);
    if (answer === answers[index]) continue;
    answers[index] = answer;
    if (answer) stock[question].add(machine);
    else stock[question].delete(machine);
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
