// What to do next, from what is known: every choice the client makes is made here.

import { balance } from "./balance.js";
import { dealJobs } from "./deal.js";
import type { MachineState } from "./machine-state.js";
import { hasOlder, machineOf, type RunState } from "./state.js";

export type Decision = {
  readonly machine: string;
} /** `resumes`: jobs of this batch may be there already. */ & (
  | { readonly kind: "connect"; readonly resumes: boolean }
  /** The link was lost: get it back, for as long as it takes. */
  | { readonly kind: "reconnect"; readonly resumes: boolean }
  /** It has been away too long: others get what it had not begun, as far as is known. */
  | { readonly kind: "give-up"; readonly lines: readonly number[] }
  | { readonly kind: "assign"; readonly lines: readonly number[] }
  | { readonly kind: "hand-over"; readonly lines: readonly number[] }
  | { readonly kind: "collect"; readonly lines: readonly number[] }
  | { readonly kind: "free"; readonly keys: readonly string[] }
  /** Moves the results of these aside, to run them again. */
  | { readonly kind: "retry"; readonly lines: readonly number[] }
  | { readonly kind: "take-back"; readonly lines: readonly number[] }
  | { readonly kind: "stop"; readonly lines: readonly number[] }
  | { readonly kind: "finish"; readonly cleans: boolean }
);
export type DecisionKind = Decision["kind"];

/** At most this many jobs in one archive: their names must fit one command line, here and over there. */
const COLLECT_AT_ONCE = 500;
const HAND_OVER_AT_ONCE = 2000;
/** How long the first machine waits for the others to answer, so that each gets its share at once. */
const PATIENCE_MS = 2000;
/** How long a machine is waited for that is out of reach and has nothing left but what is to be cleaned up. */
const FAREWELL_MS = 5000;

export function decide(state: RunState, now: number): Decision[] {
  const machines = [...state.machines.values()];
  const isQuiet = isQuietEverywhere(state, machines);
  return [
    ...deal(state, machines, now),
    ...rebalance(state, machines),
    ...machines.flatMap((machine) => decideFor(state, machine, now, isQuiet)),
  ];
}

/** Nothing is under way and nothing more can be done. */
export function isOver(state: RunState, now: number): boolean {
  const machines = [...state.machines.values()];
  if (machines.every((machine) => isOut(machine) || isUnneeded(state, machine))) return true;
  // Some are still being tried, but nobody waits for them alone.
  const isDispensable = (machine: MachineState) => machine.isGivenUp || isLeftToClean(machine, now);
  return (
    machines.every((machine) => isDispensable(machine) || isOut(machine) || isUnneeded(state, machine)) &&
    (state.waiting.size === 0 || machines.every(({ isOpen, isGivenUp }) => !isOpen || isGivenUp))
  );
}

function isLeftToClean(machine: MachineState, now: number): boolean {
  return machine.phase === "lost" && isEmpty(machine) && now - machine.lostAt >= FAREWELL_MS;
}

/** From here on the machines need no client: every job is over there, or done. */
export function isHandedOver(state: RunState): boolean {
  const isPending = ({ assigned, phase }: MachineState) => assigned.size > 0 || phase === "connecting";
  return state.waiting.size === 0 && ![...state.machines.values()].some(isPending);
}

/** What it does cannot be done a second time, nor undone: what led to it must be remembered, whatever happens to us. */
export function reliesOnRecord({ kind }: Decision): boolean {
  return kind === "hand-over" || kind === "free" || kind === "retry" || kind === "finish";
}

/** Marks a decision as under way, so that it is not made twice. */
export function begin(state: RunState, decision: Decision): void {
  const machine = machineOf(state, decision.machine);
  machine.busy.add(decision.kind);
  if (decision.kind === "connect") machine.phase = "connecting";
  if (decision.kind === "finish") machine.phase = "finishing";
  if (decision.kind === "stop") for (const line of decision.lines) machine.stopped.add(line);
  if (decision.kind === "free") for (const key of decision.keys) machine.toFree.delete(key);
}

/** However it went. */
export function settle(state: RunState, decision: Decision): void {
  machineOf(state, decision.machine).busy.delete(decision.kind);
}

function isOut({ phase, busy, toRetry }: MachineState): boolean {
  return busy.size + toRetry.size === 0 && (phase === "done" || phase === "failed");
}

function isUnneeded(state: RunState, machine: MachineState): boolean {
  if (machine.busy.has("retry") || machine.toRetry.size > 0) return false;
  return (machine.phase === "new" || machine.phase === "connecting") && !isNeeded(state, machine);
}

function isNeeded(state: RunState, { hasSpool, isOpen }: MachineState): boolean {
  return hasSpool || (isOpen && isMoreToDo(state));
}

/** Waiting jobs, here or on a machine that might be relieved of some. */
function isMoreToDo({ waiting, machines, interrupted }: RunState): boolean {
  if (interrupted !== "no") return false;
  return waiting.size > 0 || [...machines.values()].some(({ queued }) => queued.size > 0);
}

/** All of the waiting jobs go out at once, so that from then on no client is needed. */
function deal(state: RunState, machines: readonly MachineState[], now: number): Decision[] {
  if (state.waiting.size === 0 || state.interrupted !== "no") return [];
  const isPatient = state.firstReadyAt === null || now - state.firstReadyAt < PATIENCE_MS;
  if (isPatient && machines.some(({ phase }) => phase === "new" || phase === "connecting")) return [];
  const hands = dealJobs(
    state.waiting,
    // Not while jobs are handed over there: the answer could be taken for that of a later attempt.
    machines.filter(
      ({ phase, isOpen, busy }) =>
        phase === "ready" && isOpen && !busy.has("assign") && !busy.has("hand-over"),
    ),
    { avoided: (line) => state.avoids.get(line), isBarred: (name, line) => hasOlder(state, name, line) },
  );
  return [...hands].map(([machine, lines]) => ({ kind: "assign", machine, lines }));
}

function rebalance(state: RunState, machines: readonly MachineState[]): Decision[] {
  if (state.waiting.size > 0 || state.interrupted !== "no") return [];
  return balance(machines).map((order) => ({ kind: "take-back", ...order }));
}

function decideFor(state: RunState, machine: MachineState, now: number, isQuiet: boolean): Decision[] {
  const { name, phase, hasSpool } = machine;
  const retry = batch(machine, "retry", machine.toRetry);
  if (phase === "new") {
    return isNeeded(state, machine)
      ? [...retry, { kind: "connect", machine: name, resumes: hasSpool }]
      : retry;
  }
  if (phase === "lost") return [...retry, ...reconnect(machine), ...giveUp(state, machine, now)];
  if (phase !== "ready") return retry;
  const decisions = [
    ...retry,
    ...batch(machine, "hand-over", machine.assigned, HAND_OVER_AT_ONCE),
    ...takeBack(state, machine),
    ...batch(machine, "collect", [...machine.ended, ...machine.strays.keys()], COLLECT_AT_ONCE),
    ...free(machine),
  ];
  return decisions.length === 0 && isFinished(machine, isQuiet)
    ? [{ kind: "finish", machine: name, cleans: machine.hasSpool && !machine.hasStuck }]
    : decisions;
}

function reconnect({ name, busy, hasSpool }: MachineState): Decision[] {
  if (busy.has("reconnect") || busy.has("connect")) return [];
  return [{ kind: "reconnect", machine: name, resumes: hasSpool }];
}

function giveUp(
  { policy: { reassignAfterMs }, machines }: RunState,
  machine: MachineState,
  now: number,
): Decision[] {
  if (machine.isGivenUp || reassignAfterMs === null || now - machine.lostAt < reassignAfterMs) return [];
  return [...machines.values()].some(canTakeJobs)
    ? batch(machine, "give-up", machine.queued, Number.POSITIVE_INFINITY, true)
    : [];
}

function takeBack(state: RunState, machine: MachineState): Decision[] {
  if (machine.busy.has("hand-over")) return [];
  const isInterrupted = state.interrupted !== "no";
  // A machine that is being drained keeps what nobody else could take.
  const isDrained = !machine.isOpen && [...state.machines.values()].some(canTakeJobs);
  const givesBack = isInterrupted || isDrained;
  const arrived = [...machine.queued].filter(
    (line) => givesBack && !machine.assigned.has(line) && !machine.kept.has(line),
  );
  const unstopped = [...machine.running].filter((line) => !machine.stopped.has(line));
  return [
    ...batch(machine, "take-back", [...arrived, ...machine.orphans.keys()]),
    ...(state.interrupted === "stop" ? batch(machine, "stop", unstopped) : []),
  ];
}

function canTakeJobs({ phase, isOpen, slots }: MachineState): boolean {
  return phase === "ready" && isOpen && slots > 0;
}

/** Not while jobs are handed over that may have arrived before: what was freed would be put into place again. */
function free({ name, toFree, busy }: MachineState): Decision[] {
  if (toFree.size === 0 || busy.has("free") || busy.has("hand-over")) return [];
  return [{ kind: "free", machine: name, keys: [...toFree].slice(0, COLLECT_AT_ONCE) }];
}

function batch(
  { name, busy }: MachineState,
  kind: "hand-over" | "collect" | "retry" | "take-back" | "stop" | "give-up",
  lines: Iterable<number>,
  most = Number.POSITIVE_INFINITY,
  mayBeEmpty = false,
): Decision[] {
  const some = [...lines].slice(0, most);
  if ((some.length === 0 && !mayBeEmpty) || busy.has(kind)) return [];
  return [{ kind, machine: name, lines: some }];
}

/** Nothing of ours is left there, and nothing more will come. */
function isFinished(machine: MachineState, isQuiet: boolean): boolean {
  const { toFree, toRetry, busy, isOpen } = machine;
  // An open machine stays until the last job of the batch is home: it may be needed for it.
  return isEmpty(machine) && toFree.size + toRetry.size + busy.size === 0 && (isQuiet || !isOpen);
}

/** Nothing is there that is still wanted. */
export function isEmpty(machine: MachineState): boolean {
  const { orphans, begunOrphans, strays } = machine;
  return !hasJobs(machine) && orphans.size + begunOrphans.size + strays.size === 0;
}

function hasJobs({ queued, running, ended }: MachineState): boolean {
  return queued.size + running.size + ended.size > 0;
}

/** No job is on its way any more, but for those on machines that were given up. */
function isQuietEverywhere(state: RunState, machines: readonly MachineState[]): boolean {
  return (
    state.waiting.size === 0 &&
    machines.every((machine) => {
      if (machine.toRetry.size > 0) return false;
      if (machine.isGivenUp || machine.phase === "failed") return true;
      return !hasJobs(machine);
    })
  );
}
