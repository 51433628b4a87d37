// What to do next, from what is known: every choice the client makes is made here.

import type { Attempt } from "../model/attempt.js";
import { attemptKey } from "../model/attempt-key.js";
import { lastAttempt, type MachineState } from "../model/batch-state.js";
import type { Decision, Rest } from "../model/decision.js";
import type { News } from "../model/event.js";
import type { JobId } from "../model/job.js";
import { balance } from "./balance.js";
import { dealJobs } from "./deal.js";
import { isToCollect } from "./gathering.js";
import { startsNothing } from "./halt.js";
import { countWaiting, idsOf, incompleteOf } from "./holdings.js";
import { kindOfJob, machineOf, type RunState } from "./run-state.js";
import { isEmpty } from "./stock.js";

/** `news` changes only what is known, and comes first. */
export interface Plan {
  readonly news: readonly News[];
  readonly verbs: readonly Decision[];
}

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

/** Costs what the machines cost that have changed, not what all of them would. Stock must have been taken. */
export function decide(state: RunState, now: number): Plan {
  const isQuiet = isQuietEverywhere(state);
  const machines = concerned(state, now, isQuiet);
  return {
    news: [...deal(state, now), ...machines.flatMap((machine) => withholdOrGiveUp(state, machine, now))],
    verbs: [
      ...rebalance(state, now),
      ...machines.flatMap((machine) => decideFor(state, machine, now, isQuiet)),
    ],
  };
}

/** The machines that something may have to be done about. */
function concerned(state: RunState, now: number, isQuiet: boolean): MachineState[] {
  const { machines, stock } = state;
  if (startsNothing(state)) return [...machines.values()];
  // One that is due for another reason may have gathered, too.
  const some = [...new Set([...stock.due, ...(isQuiet ? stock.idle : []), ...stock.gathering.gathered(now)])];
  return some.sort((one, other) => one.order - other.order);
}

/** Nothing is under way and nothing more can be done. */
export function isOver(state: RunState, now: number): boolean {
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
  const isPending = ({ current: { assigned, sent }, phase }: MachineState) =>
    assigned.size + sent.size > 0 || phase === "connecting";
  return !isMoreToDeal(state) && ![...state.machines.values()].some(isPending);
}

/** Here or over there. */
export function countUnbegun({ waiting, stock }: RunState): number {
  let count = waiting.size;
  for (const machine of stock.queueing) count += countWaiting(machine);
  return count;
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
function deal(state: RunState, now: number): News[] {
  if (state.waiting.size === 0 || startsNothing(state)) return [];
  const { unheard, ready, total } = state.stock;
  const waitedMs = state.firstReadyAt === null ? 0 : now - state.firstReadyAt;
  const isPatient = unheard.size > 0 && waitedMs < PATIENCE_MS;
  if (isPatient && waitedMs < HUNGER_MS) return [];
  const jobs = isPatient ? first([dealable(state)], total.slots - total.jobs) : dealable(state);
  const hands = dealJobs(jobs, ready, {
    avoided: (id) => state.jobs.get(id)?.avoids ?? undefined,
    isBarred: (name, id) => machineOf(state, name).attempts.has(id) || !isServedBy(state, name, id),
  });
  return [...hands].map(([{ name }, jobs]) => {
    const attempts = jobs.map((id) => (state.jobs.get(id)?.lastNumber ?? 0) + 1);
    return { kind: "jobs-assigned", machine: name, jobs, attempts };
  });
}

function isServedBy(state: RunState, name: string, id: JobId): boolean {
  return state.kinds.size === 0 || machineOf(state, name).kinds.has(kindOfJob(state, id));
}

/** Without looking at each machine for each job: only jobs of which the kind is served somewhere. */
function dealable(state: RunState): Iterable<JobId> {
  return servedBy(state, state.stock.takers, state.waiting);
}

function servedBy(state: RunState, machines: Iterable<MachineState>, jobs: Iterable<JobId>): Iterable<JobId> {
  if (state.kinds.size === 0) return jobs;
  const served = new Set([...machines].flatMap(({ kinds }) => [...kinds]));
  return [...jobs].filter((id) => served.has(kindOfJob(state, id)));
}

function rebalance(state: RunState, now: number): Decision[] {
  const { waiting, stock } = state;
  if (stock.dryAt === null || now - stock.dryAt < DRY_MS) return [];
  if (waiting.size > 0 || startsNothing(state)) return [];
  return balance(stock, (jobs) => servedBy(state, stock.dry, jobs)).map((order) => ({
    kind: "take-back",
    ...order,
  }));
}

function decideFor(state: RunState, machine: MachineState, now: number, isQuiet: boolean): Decision[] {
  const { name, phase, hasSpool, current, overtaken } = machine;
  const retry = batch(machine, "retry", [machine.toRetry]);
  if (phase === "new") {
    return isNeeded(state, machine)
      ? [...retry, { kind: "connect", machine: name, resumes: hasSpool }]
      : retry;
  }
  if (phase === "lost") return [...retry, ...reconnect(machine)];
  if (phase !== "ready") return retry;
  const decisions = [
    ...retry,
    ...handOver(state, machine),
    ...takeBack(state, machine),
    ...(isToCollect(machine, now)
      ? batch(machine, "collect", [idsOf(current.ended), idsOf(overtaken.ended)], COLLECT_AT_ONCE)
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

/** What has no effect on the world: the machine is given up, or keeps what was never sent from it. */
function withholdOrGiveUp(state: RunState, machine: MachineState, now: number): News[] {
  const { name, phase, current } = machine;
  if (phase === "lost") return isToGiveUp(state, machine, now) ? [giveUp(state, machine)] : [];
  if (phase !== "ready" || !startsNothing(state) || current.assigned.size === 0) return [];
  return [{ kind: "jobs-taken-back", machine: name, jobs: [...idsOf(current.assigned)], begun: [] }];
}

function isToGiveUp(
  { policy: { reassignAfterMs }, stock }: RunState,
  machine: MachineState,
  now: number,
): boolean {
  if (machine.isGivenUp || reassignAfterMs === null || now - machine.lostAt < reassignAfterMs) return false;
  return stock.takers.size > 0;
}

function giveUp(state: RunState, { name, current: { assigned, sent, queued } }: MachineState): News {
  const waiting = idsOf([...assigned, ...sent, ...queued]);
  return {
    kind: "jobs-reassigned",
    machine: name,
    jobs: [...servedBy(state, state.stock.takers, waiting)],
  };
}

function handOver(state: RunState, machine: MachineState): Decision[] {
  const { name, busy, current } = machine;
  const jobs = busy.has("hand-over") ? [] : first(toHandOver(state, machine), HAND_OVER_AT_ONCE);
  if (jobs.length === 0) return [];
  // What was sent comes first.
  const again = jobs.slice(0, current.sent.size);
  return [{ kind: "hand-over", machine: name, jobs, ...(again.length > 0 && { again }) }];
}

/** While nothing is to begin: only what may have arrived already, so that the machine can be asked about it. */
function toHandOver(state: RunState, { current: { assigned, sent } }: MachineState): Iterable<JobId>[] {
  return startsNothing(state) ? [idsOf(sent)] : [idsOf(sent), idsOf(assigned)];
}

function takeBack(state: RunState, machine: MachineState): Decision[] {
  const { stock } = state;
  const { current, overtaken, isOpen, busy } = machine;
  const isHandingOver = busy.has("hand-over");
  if (isHandingOver && !startsNothing(state)) return [];
  // A machine that is being drained keeps what no other could take.
  const isDrained = !isOpen && stock.takers.size > 0;
  const left = isDrained ? servedBy(state, stock.takers, idsOf(current.queued)) : [];
  const returned = startsNothing(state) ? idsOf(current.queued) : left;
  const orphans = isHandingOver ? [] : idsOf(overtaken.queued);
  return [
    ...batch(machine, "take-back", [returned, orphans]),
    ...(state.interrupted === "stop" ? batch(machine, "stop", [unstopped(machine)]) : []),
  ];
}

function* unstopped({ current: { running } }: MachineState): Iterable<JobId> {
  for (const { job, stage } of running) if (stage.kind === "running" && !stage.isStopping) yield job;
}

function collectRests(state: RunState, { name, busy, rests, restsToTry }: MachineState): Decision[] {
  if (restsToTry.size === 0 || busy.has("collect-rest")) return [];
  const some = first([restsToTry], RESTS_AT_ONCE).flatMap((key) => rests.get(key) ?? []);
  return [{ kind: "collect-rest", machine: name, rests: some.map((attempt) => restOf(state, attempt)) }];
}

function restOf({ jobs }: RunState, attempt: Attempt): Rest {
  const tracked = jobs.get(attempt.job);
  const isInPlace = tracked !== undefined && lastAttempt(tracked) === attempt;
  return { ...incompleteOf(attempt), key: attemptKey(attempt), isInPlace };
}

/** Not while jobs are handed over that may have arrived before: what was freed would be put into place again. */
function free(machine: MachineState, isQuiet: boolean): Decision[] {
  const { name, toFree, busy } = machine;
  if (toFree.size === 0 || busy.has("free") || busy.has("hand-over")) return [];
  // The last ones go with all the rest.
  if (isThrough(machine, isQuiet) && isToClean(machine)) return [];
  return [{ kind: "free", machine: name, keys: first([toFree.keys()], COLLECT_AT_ONCE) }];
}

function batch(
  { name, busy }: MachineState,
  kind: "collect" | "retry" | "take-back" | "stop",
  jobs: readonly Iterable<JobId>[],
  most = Number.POSITIVE_INFINITY,
): Decision[] {
  if (busy.has(kind)) return [];
  const some = first(jobs, most);
  return some.length === 0 ? [] : [{ kind, machine: name, jobs: some }];
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

function isToClean({ hasSpool, stuck, rests }: MachineState): boolean {
  return hasSpool && stuck + rests.size === 0;
}

/** No job is on its way any more, but for those on machines that were given up. */
function isQuietEverywhere(state: RunState): boolean {
  return !isMoreToDeal(state) && state.stock.holding.size === 0;
}
