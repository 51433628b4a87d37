// What to do next, from what is known: every choice the client makes is made here.

import type { Incomplete } from "../model/event.js";
import { attemptKey } from "../model/job.js";
import { balance } from "./balance.js";
import { dealJobs } from "./deal.js";
import { startsNothing } from "./halt.js";
import type { MachineState } from "./machine-state.js";
import { hasOlder, kindOfLine, machineOf, type RunState, toChange } from "./run-state.js";
import { gathered, isEmpty, isToCollect, takeStock } from "./stock.js";

export type Decision = {
  readonly machine: string;
} /** `resumes`: jobs of this batch may be there already. */ & (
  | { readonly kind: "connect"; readonly resumes: boolean }
  /** The link was lost: get it back, for as long as it takes. */
  | { readonly kind: "reconnect"; readonly resumes: boolean }
  /** It has been away too long: others get what it had not begun, as far as is known. */
  | { readonly kind: "give-up"; readonly lines: readonly number[] }
  | { readonly kind: "assign"; readonly lines: readonly number[] }
  /** `again`: of the lines, those that may be there from an earlier hand-over. */
  | {
      readonly kind: "hand-over";
      readonly lines: readonly number[];
      readonly again?: readonly number[];
    }
  | { readonly kind: "collect"; readonly lines: readonly number[] }
  /** Asks again for what was missing of results that are in place. */
  | { readonly kind: "collect-rest"; readonly rests: readonly Rest[] }
  | { readonly kind: "free"; readonly keys: readonly string[] }
  /** Moves the results of these aside, to run them again. */
  | { readonly kind: "retry"; readonly lines: readonly number[] }
  | { readonly kind: "take-back"; readonly lines: readonly number[] }
  /** They were assigned, and are not sent: there is nobody to ask. */
  | { readonly kind: "withhold"; readonly lines: readonly number[] }
  | { readonly kind: "stop"; readonly lines: readonly number[] }
  | { readonly kind: "finish"; readonly cleans: boolean }
);
export type DecisionKind = Decision["kind"];

/** `isInPlace`: the results of this attempt are those that count. */
export type Rest = Incomplete & { readonly isInPlace: boolean };

/** At most this many jobs in one archive: their names must fit one command line, here and over there. */
const COLLECT_AT_ONCE = 500;
/** Each names up to a hundred paths. */
const RESTS_AT_ONCE = 20;
const HAND_OVER_AT_ONCE = 2000;
/** How long the first machine waits for the others to answer, so that each gets its share at once. */
const PATIENCE_MS = 2000;
/** How long until it gets at least one job for each of its slots. */
const HUNGER_MS = 200;
/** What is taken back and given to another is begun there no sooner: meanwhile whoever has it may be through. */
const DRY_MS = 300;
/** How long a machine is waited for that is out of reach and has nothing left but what is to be cleaned up. */
const FAREWELL_MS = 5000;

/** Costs what the machines cost that have changed, not what all of them would. */
export function decide(state: RunState, now: number): Decision[] {
  takeStock(state.stock);
  const isQuiet = isQuietEverywhere(state);
  return [
    ...deal(state, now),
    ...rebalance(state, now),
    ...concerned(state, now, isQuiet).flatMap((machine) => decideFor(state, machine, now, isQuiet)),
  ];
}

/** The machines that something may have to be done about. */
function concerned(state: RunState, now: number, isQuiet: boolean): MachineState[] {
  const { machines, stock } = state;
  if (startsNothing(state)) return [...machines.values()];
  // One that is due for another reason may have gathered, too.
  const some = [...new Set([...stock.due, ...(isQuiet ? stock.idle : []), ...gathered(stock, now)])];
  return some.sort((one, other) => one.order - other.order);
}

/** Nothing is under way and nothing more can be done. */
export function isOver(state: RunState, now: number): boolean {
  takeStock(state.stock);
  if (areAll(state, (machine) => isOut(machine) || isUnneeded(state, machine))) return true;
  // Some are still being tried, but nobody waits for them alone.
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

/** From here on the machines need no client: every job is over there, or done. */
export function isHandedOver(state: RunState): boolean {
  const isPending = ({ assigned, phase }: MachineState) => assigned.size > 0 || phase === "connecting";
  return !isMoreToDeal(state) && ![...state.machines.values()].some(isPending);
}

/** Here or over there. */
export function countUnbegun({ waiting, stock }: RunState): number {
  let count = waiting.size;
  for (const { queued } of stock.queueing) count += queued.size;
  return count;
}

/** What it does cannot be done a second time, nor undone: what led to it must be remembered, whatever happens to us. */
export function reliesOnRecord({ kind }: Decision): boolean {
  return kind === "hand-over" || kind === "free" || kind === "retry" || kind === "finish";
}

/** Marks a decision as under way, so that it is not made twice. */
export function begin(state: RunState, decision: Decision): void {
  const machine = toChange(state, decision.machine);
  machine.busy.add(decision.kind);
  if (decision.kind === "connect") machine.phase = "connecting";
  if (decision.kind === "finish") machine.phase = "finishing";
  if (decision.kind === "hand-over") for (const line of decision.lines) machine.unsent.delete(line);
  if (decision.kind === "stop") for (const line of decision.lines) machine.stopped.add(line);
  if (decision.kind === "collect-rest")
    for (const { line, attempt } of decision.rests) machine.restsToTry.delete(attemptKey(line, attempt));
  if (decision.kind === "free") for (const key of decision.keys) machine.toFree.delete(key);
}

/** However it went. */
export function settle(state: RunState, { machine: name, kind }: Decision, now: number): void {
  const machine = toChange(state, name);
  machine.busy.delete(kind);
  if (kind === "collect") machine.collectedAt = now;
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
function isMoreToDo(state: RunState): boolean {
  return state.interrupted === "no" && (isMoreToDeal(state) || state.stock.queueing.size > 0);
}

function isMoreToDeal({ waiting, isMoreToCome }: RunState): boolean {
  return isMoreToCome || waiting.size > 0;
}

/** All of the waiting jobs go out at once, so that from then on no client is needed. */
function deal(state: RunState, now: number): Decision[] {
  if (state.waiting.size === 0 || startsNothing(state)) return [];
  const { unheard, ready, total } = state.stock;
  const waitedMs = state.firstReadyAt === null ? 0 : now - state.firstReadyAt;
  const isPatient = unheard.size > 0 && waitedMs < PATIENCE_MS;
  if (isPatient && waitedMs < HUNGER_MS) return [];
  const lines = isPatient ? first([dealable(state)], total.slots - total.jobs) : dealable(state);
  const hands = dealJobs(lines, ready, {
    avoided: (line) => state.avoids.get(line),
    isBarred: (name, line) => hasOlder(state, name, line) || !isServedBy(state, name, line),
  });
  return [...hands].map(([{ name }, lines]) => ({ kind: "assign", machine: name, lines }));
}

function isServedBy(state: RunState, name: string, line: number): boolean {
  return state.kinds.size === 0 || machineOf(state, name).kinds.has(kindOfLine(state, line));
}

/** Without looking at each machine for each line: only lines of which the kind is served somewhere. */
function dealable(state: RunState): Iterable<number> {
  return servedBy(state, state.stock.takers, state.waiting);
}

function servedBy(
  state: RunState,
  machines: Iterable<MachineState>,
  lines: Iterable<number>,
): Iterable<number> {
  if (state.kinds.size === 0) return lines;
  const served = new Set([...machines].flatMap(({ kinds }) => [...kinds]));
  return [...lines].filter((line) => served.has(kindOfLine(state, line)));
}

function rebalance(state: RunState, now: number): Decision[] {
  const { waiting, stock } = state;
  state.dryAt = stock.dry.size === 0 ? null : (state.dryAt ?? now);
  if (state.dryAt === null || now - state.dryAt < DRY_MS) return [];
  if (waiting.size > 0 || startsNothing(state)) return [];
  return balance(stock, (lines) => servedBy(state, stock.dry, lines)).map((order) => ({
    kind: "take-back",
    ...order,
  }));
}

function decideFor(state: RunState, machine: MachineState, now: number, isQuiet: boolean): Decision[] {
  const { name, phase, hasSpool } = machine;
  const retry = batch(machine, "retry", [machine.toRetry]);
  if (phase === "new") {
    return isNeeded(state, machine)
      ? [...retry, { kind: "connect", machine: name, resumes: hasSpool }]
      : retry;
  }
  if (phase === "lost") return [...retry, ...reconnect(machine), ...giveUp(state, machine, now)];
  if (phase !== "ready") return retry;
  const decisions = [
    ...retry,
    ...handOver(state, machine),
    ...takeBack(state, machine),
    ...(isToCollect(machine, now)
      ? batch(machine, "collect", [machine.ended, machine.strays.keys()], COLLECT_AT_ONCE)
      : []),
    ...collectRests(state, machine),
    ...free(machine, isQuiet),
  ];
  return decisions.length === 0 && isFinished(machine, isQuiet)
    ? [{ kind: "finish", machine: name, cleans: isToClean(machine) }]
    : decisions;
}

function reconnect({ name, busy, hasSpool }: MachineState): Decision[] {
  if (busy.has("reconnect") || busy.has("connect")) return [];
  return [{ kind: "reconnect", machine: name, resumes: hasSpool }];
}

function giveUp(state: RunState, machine: MachineState, now: number): Decision[] {
  const {
    policy: { reassignAfterMs },
    stock,
  } = state;
  if (machine.isGivenUp || reassignAfterMs === null || now - machine.lostAt < reassignAfterMs) return [];
  return stock.takers.size > 0
    ? batch(
        machine,
        "give-up",
        [servedBy(state, stock.takers, machine.queued)],
        Number.POSITIVE_INFINITY,
        true,
      )
    : [];
}

function handOver(state: RunState, machine: MachineState): Decision[] {
  const { name, busy, unsent } = machine;
  const lines = busy.has("hand-over") ? [] : first([toHandOver(state, machine)], HAND_OVER_AT_ONCE);
  if (lines.length === 0) return [];
  const again = lines.filter((line) => !unsent.has(line));
  return [{ kind: "hand-over", machine: name, lines, ...(again.length > 0 && { again }) }];
}

/** While nothing is to begin: only what may have arrived already, so that there is somebody to ask about it. */
function toHandOver(state: RunState, { assigned, unsent }: MachineState): Iterable<number> {
  return startsNothing(state) ? [...assigned].filter((line) => !unsent.has(line)) : assigned;
}

function takeBack(state: RunState, machine: MachineState): Decision[] {
  const { stock } = state;
  const withheld = startsNothing(state) ? batch(machine, "withhold", [machine.unsent]) : [];
  const isHandingOver = machine.busy.has("hand-over");
  if (isHandingOver && !startsNothing(state)) return [];
  // A machine that is being drained keeps what nobody else could take.
  const isDrained = !machine.isOpen && stock.takers.size > 0;
  const left = isDrained ? servedBy(state, stock.takers, untouched(machine)) : [];
  const returned = startsNothing(state) ? untouched(machine) : left;
  const orphans = isHandingOver ? [] : machine.orphans.keys();
  return [
    ...withheld,
    ...batch(machine, "take-back", [returned, orphans]),
    ...(state.interrupted === "stop" ? batch(machine, "stop", [unstopped(machine)]) : []),
  ];
}

/** What has arrived there, and was not begun as far as is known. */
function* untouched({ queued, assigned, kept }: MachineState): Iterable<number> {
  for (const line of queued) if (!assigned.has(line) && !kept.has(line)) yield line;
}

function* unstopped({ running, stopped }: MachineState): Iterable<number> {
  for (const line of running) if (!stopped.has(line)) yield line;
}

function collectRests(state: RunState, { name, busy, rests, restsToTry }: MachineState): Decision[] {
  if (restsToTry.size === 0 || busy.has("collect-rest")) return [];
  const some = first([restsToTry], RESTS_AT_ONCE).flatMap((key) => rests.get(key) ?? []);
  const isInPlace = ({ line, attempt }: Incomplete) => {
    const kind = state.jobs.get(line)?.kind;
    return (kind === "collected" || kind === "skipped") && state.attempts.get(line) === attempt;
  };
  return [
    {
      kind: "collect-rest",
      machine: name,
      rests: some.map((rest) => ({ ...rest, isInPlace: isInPlace(rest) })),
    },
  ];
}

/** Not while jobs are handed over that may have arrived before: what was freed would be put into place again. */
function free(machine: MachineState, isQuiet: boolean): Decision[] {
  const { name, toFree, busy } = machine;
  if (toFree.size === 0 || busy.has("free") || busy.has("hand-over")) return [];
  // The last ones go with all the rest.
  if (isThrough(machine, isQuiet) && isToClean(machine)) return [];
  return [{ kind: "free", machine: name, keys: first([toFree], COLLECT_AT_ONCE) }];
}

function batch(
  { name, busy }: MachineState,
  kind: "collect" | "retry" | "take-back" | "withhold" | "stop" | "give-up",
  lines: readonly Iterable<number>[],
  most = Number.POSITIVE_INFINITY,
  mayBeEmpty = false,
): Decision[] {
  if (busy.has(kind)) return [];
  const some = first(lines, most);
  return some.length === 0 && !mayBeEmpty ? [] : [{ kind, machine: name, lines: some }];
}

function first<T>(sources: readonly Iterable<T>[], most: number): T[] {
  const some: T[] = [];
  for (const source of sources) {
    for (const item of source) {
      if (some.length >= most) return some;
      some.push(item);
    }
  }
  return some;
}

/** Nothing is left there but what is cleaned up, and nothing more will come. */
function isFinished(machine: MachineState, isQuiet: boolean): boolean {
  const { toFree, busy } = machine;
  return isThrough(machine, isQuiet) && busy.size === 0 && (toFree.size === 0 || isToClean(machine));
}

/** An open machine stays until the last job of the batch is home: it may be needed for it. */
function isThrough(machine: MachineState, isQuiet: boolean): boolean {
  return isEmpty(machine) && machine.toRetry.size === 0 && (isQuiet || !machine.isOpen);
}

function isToClean({ hasSpool, hasStuck, rests }: MachineState): boolean {
  return hasSpool && !hasStuck && rests.size === 0;
}

/** No job is on its way any more, but for those on machines that were given up. */
function isQuietEverywhere(state: RunState): boolean {
  return !isMoreToDeal(state) && state.stock.holding.size === 0;
}
