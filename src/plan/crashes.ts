// Decides what to do when the first jobs of a run crash at once in the same way: on all machines, pause or halt the run;
// on one machine only, set that machine aside.

import type { MachineState } from "../model/batch-state.js";
import type { News, RunEvent } from "../model/event.js";
import { type JobId, succeeded } from "../model/job.js";
import { crashSign } from "./crash-sign.js";
import type { Crashes, RunState, Streak } from "./run-state.js";
import { isServedBy } from "./served.js";

type Ended = Extract<RunEvent, { kind: "job-ended" }>;

/** A job that runs longer has done some work. */
const QUICK_MS = 10_000;
/** Fewer may be a coincidence. */
const FEWEST = 3;

export function newCrashes(): Crashes {
  return { everywhere: newStreak(), byMachine: new Map(), suspects: new Set(), well: new Set() };
}

function newStreak(): Streak {
  return { sign: null, jobs: new Set(), first: null, since: 0, moved: new Set(), isOver: false };
}

/** Counts the end of a current attempt. Jobs that were stopped or lost say nothing about their commands. */
export function noteCrash({ crashes }: RunState, event: Ended): void {
  const { machine, outcome, durationMs, stderrTail } = event;
  if (outcome.kind === "stopped" || outcome.kind === "lost") return;
  const isQuick = durationMs <= QUICK_MS;
  if (succeeded(outcome) || !isQuick) crashes.well.add(machine);
  const sign = isQuick && stderrTail !== undefined ? crashSign(outcome, stderrTail) : null;
  extend(crashes.everywhere, event, sign);
  const own = streakOn(crashes, machine);
  extend(own, event, sign);
  if (!own.isOver && own.jobs.size >= FEWEST) crashes.suspects.add(machine);
  else crashes.suspects.delete(machine);
}

function streakOn({ byMachine }: Crashes, machine: string): Streak {
  const known = byMachine.get(machine);
  if (known !== undefined) return known;
  const added = newStreak();
  byMachine.set(machine, added);
  return added;
}

function extend(streak: Streak, { job, at, outcome, stderrTail = "" }: Ended, sign: string | null): void {
  if (streak.isOver) return;
  if (sign === null || (streak.sign !== null && streak.sign !== sign)) {
    streak.isOver = true;
    return;
  }
  streak.sign = sign;
  if (streak.first === null) streak.since = at;
  streak.first ??= { outcome, stderrTail };
  streak.jobs.add(job);
}

/** Jobs that arrive after the crashes may be better: they begin. */
export function noteArrivals(state: RunState): void {
  const { everywhere } = state.crashes;
  if (everywhere.jobs.size >= mostAtOnce(state)) everywhere.isOver = true;
}

/** The event to record when a rule is met; null if none is, or the run starts nothing anyway. */
export function crashDue(state: RunState, now: number): News | null {
  if (state.interrupted !== "no" || state.isPaused) return null;
  return sameCrashDue(state, now) ?? asideDue(state, now);
}

/** There must be a job that has not begun: otherwise nothing can be spared. */
function sameCrashDue(state: RunState, now: number): News | null {
  const { policy, crashes } = state;
  const { first, jobs, isOver } = crashes.everywhere;
  if (!policy.onSameCrash || first === null || isOver || !canHoldBack(state)) return null;
  if (jobs.size < mostAtOnce(state) || !areAllConcerned(state, now)) return null;
  return { kind: "same-crash", jobs: [...jobs], ...first, action: policy.onSameCrash };
}

/** Jobs that no machine can ever run need not be held back. */
function canHoldBack({ tally, leftOut, jobs }: RunState): boolean {
  const never = [...leftOut.keys()].filter((id) => jobs.get(id)?.fate.kind === "dropped");
  return tally.waiting > never.length;
}

function mostAtOnce({ machines }: RunState): number {
  let slots = 0;
  for (const machine of machines.values()) if (isTaker(machine)) slots += machine.slots;
  return Math.max(FEWEST, slots);
}

/** A machine whose jobs still run, or are about to begin, may be fine: then only the others are set aside. */
function areAllConcerned({ machines, crashes }: RunState, now: number): boolean {
  const isSoon = now - crashes.everywhere.since <= QUICK_MS;
  for (const machine of machines.values()) {
    if (crashes.byMachine.get(machine.name)?.jobs.size) continue;
    if (machine.current.running.size > 0 || (isSoon && mayBegin(machine))) return false;
  }
  return true;
}

function mayBegin({ phase, isOpen, current: { assigned, sent, queued } }: MachineState): boolean {
  if (phase === "new" || phase === "connecting") return isOpen;
  return phase === "ready" && assigned.size + sent.size + queued.size > 0;
}

function asideDue(state: RunState, now: number): News | null {
  const { suspects, byMachine } = state.crashes;
  for (const name of suspects) {
    const [streak, machine] = [byMachine.get(name), state.machines.get(name)];
    if (streak === undefined || streak.first === null || streak.jobs.size === streak.moved.size) continue;
    const { jobs, first, moved } = streak;
    if (machine === undefined || !(machine.isOpen || machine.isSetAside)) continue;
    const others = [...state.machines.values()].filter((other) => other !== machine && isTaker(other));
    if (!machine.isSetAside && !others.some((other) => isWell(state, other, now))) continue;
    const isMovable = (id: JobId) => !moved.has(id) && others.some((other) => isServedBy(state, other, id));
    const late = [...jobs].filter(isMovable);
    if (machine.isSetAside && late.length === 0) continue;
    const more = machine.isSetAside && ({ isMore: true } as const);
    return { kind: "machine-set-aside", machine: name, jobs: late, ...more, ...first };
  }
  return null;
}

function isWell({ crashes }: RunState, { name, current }: MachineState, now: number): boolean {
  if (crashes.well.has(name)) return true;
  for (const { stage } of current.running)
    if (stage.kind === "running" && stage.startedAt !== null && now - stage.startedAt > QUICK_MS) return true;
  return false;
}

function isTaker({ phase, isOpen, slots }: MachineState): boolean {
  return phase === "ready" && isOpen && slots > 0;
}

/** The rule has been applied: it does not apply again in this run. */
export function endStreak({ crashes }: RunState): void {
  crashes.everywhere.isOver = true;
}

/** Jobs that begin before they are taken back crash, too: the streak goes on until the machine is opened again. */
export function noteMoved({ crashes }: RunState, machine: string, jobs: readonly JobId[]): void {
  crashes.everywhere.isOver = true;
  for (const id of jobs) crashes.byMachine.get(machine)?.moved.add(id);
}

export function noteReopened({ crashes }: RunState, machine: string): void {
  const own = crashes.byMachine.get(machine);
  if (own !== undefined) own.isOver = true;
  crashes.suspects.delete(machine);
}
