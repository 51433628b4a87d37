// Decides the next steps for one machine: send jobs, take jobs back, collect results, free and clean up.

import type { Attempt } from "../model/attempt.js";
import { attemptKey } from "../model/attempt-key.js";
import type { MachineState } from "../model/batch-state.js";
import type { Decision, Rest } from "../model/decision.js";
import { type JobId, treeKeyOf } from "../model/job.js";
import { SPOOL_FORMAT } from "../model/machine.js";
import { lastAttempt } from "../model/standing.js";
import { isRested, isToCollect } from "./gathering.js";
import { startsNothing, stoppingOf } from "./halt.js";
import { firstOf, idsOf, incompleteOf } from "./holdings.js";
import { isNeeded } from "./remaining.js";
import type { RunState } from "./run-state.js";
import { servedBy } from "./served.js";
import { hasFilesToFree, isEmpty, isLingering } from "./stock.js";

/** The most jobs in one archive, because their names must fit into one command line, locally and on the machine. */
const COLLECT_AT_ONCE = 500;
/** Small, because each request names up to a hundred paths. */
const RESTS_AT_ONCE = 20;
const HAND_OVER_AT_ONCE = 2000;

/** `isQuiet`: no job is in progress on any machine. */
interface Moment {
  readonly now: number;
  readonly isQuiet: boolean;
}

export function verbsFor(state: RunState, machine: MachineState, moment: Moment): Decision[] {
  const steps = stepsFor(state, machine, moment);
  return steps.filter((step) => step !== null);
}

/** Null: a step that is not needed now. */
type Step = Decision | null;

function stepsFor(state: RunState, machine: MachineState, moment: Moment): Step[] {
  const { phase } = machine;
  switch (phase) {
    case "new":
      return [retry(machine), isNeeded(state, machine) ? connect(machine) : null];
    case "lost":
      return [retry(machine), reconnect(machine)];
    case "ready":
      return stepsWhenReady(state, machine, moment);
    case "connecting":
    case "finishing":
    case "done":
    case "failed":
      return [retry(machine)];
    default:
      return phase satisfies never;
  }
}

function retry(machine: MachineState): Step {
  return machine.toRetry.size === 0 ? null : batch(machine, "retry", () => [...machine.toRetry]);
}

function connect({ name, hasSpool }: MachineState): Step {
  return { kind: "connect", machine: name, resumes: hasSpool };
}

function reconnect({ name, busy, hasSpool }: MachineState): Step {
  if (busy.has("reconnect") || busy.has("connect")) return null;
  return { kind: "reconnect", machine: name, resumes: hasSpool };
}

function stepsWhenReady(state: RunState, machine: MachineState, { now, isQuiet }: Moment): Step[] {
  if (isFinished(state, machine, isQuiet)) return [finish(state, machine)];
  return [
    retry(machine),
    handOver(state, machine),
    takeBack(state, machine),
    stop(state, machine),
    collect(machine, now),
    collectRests(state, machine),
    free(state, machine, { now, isQuiet }),
  ];
}

function finish(state: RunState, machine: MachineState): Decision {
  const { name, kept } = machine;
  const keeps = state.isFed ? [] : [...kept.keys()];
  const cleans = isToClean(state, machine);
  return { kind: "finish", machine: name, cleans, ...(keeps.length > 0 && { keeps }) };
}

/** While no job may begin, only jobs that may have arrived are handed over, to ask the machine about them. */
function handOver(state: RunState, machine: MachineState): Step {
  const { name, busy } = machine;
  const { assigned, sent } = machine.current;
  if (assigned.size + sent.size === 0 || busy.has("hand-over") || isOlder(machine)) return null;
  const doubted = wanted(state, sent);
  const waiting = startsNothing(state) ? [doubted] : [doubted, wanted(state, assigned)];
  const jobs = withTreeOfFirst(state, idsOf(waiting, HAND_OVER_AT_ONCE));
  if (jobs.length === 0) return null;
  const again = doubted.size === 0 ? [] : withTreeOfFirst(state, idsOf([doubted], HAND_OVER_AT_ONCE));
  return { kind: "hand-over", machine: name, jobs, ...(again.length > 0 && { again }) };
}

function wanted({ stopping }: RunState, attempts: ReadonlySet<Attempt>): ReadonlySet<Attempt> {
  return stopping.size === 0 ? attempts : new Set([...attempts].filter(({ job }) => !stopping.has(job)));
}

/** Hands over the jobs of one tree first, so that they start while other trees are still being sent. */
function withTreeOfFirst({ jobs }: RunState, ids: readonly JobId[]): JobId[] {
  const keyOf = (id: JobId) => treeKeyOf(jobs.get(id)?.job ?? {});
  const first = ids.length === 0 ? "" : keyOf(ids[0] as JobId);
  return ids.filter((id) => keyOf(id) === first);
}

function takeBack(state: RunState, machine: MachineState): Step {
  const isHandingOver = machine.busy.has("hand-over");
  if (isHandingOver && !startsNothing(state)) return null;
  if (keepsAll(state, machine)) return null;
  const overtaken = isHandingOver ? [] : [machine.overtaken.queued];
  // These jobs may not have arrived, and must not be sent again.
  const { sent } = machine.current;
  const doubted = isOlder(machine) ? [sent] : isHandingOver ? [] : [stoppingOf(state, sent)];
  return batch(machine, "take-back", () => [
    ...toReturn(state, machine),
    ...idsOf([...overtaken, ...doubted]),
  ]);
}

/** True of nearly all machines: there is nothing to look for. */
function keepsAll(state: RunState, machine: MachineState): boolean {
  if (startsNothing(state) || state.stopping.size > 0) return false;
  return machine.isOpen && machine.overtaken.queued.size === 0 && !isOlder(machine);
}

function isOlder({ spoolFormat }: MachineState): boolean {
  return spoolFormat < SPOOL_FORMAT;
}

/** A machine that is being drained keeps the jobs that no other machine could take. */
function toReturn(state: RunState, { current: { queued }, isOpen }: MachineState): Iterable<JobId> {
  if (startsNothing(state)) return idsOf([queued]);
  const { takers } = state.stock;
  const stopped = idsOf([stoppingOf(state, queued)]);
  if (isOpen || takers.size === 0) return stopped;
  return new Set([...stopped, ...servedBy(state, takers, idsOf([queued]))]);
}

function stop(state: RunState, machine: MachineState): Step {
  if (state.stopping.size === 0) return null;
  const running = [...stoppingOf(state, machine.current.running)];
  return batch(machine, "stop", () => running.filter(isUnstopped).map(({ job }) => job));
}

function isUnstopped({ stage }: Attempt): boolean {
  return stage.kind === "running" && !stage.isStopping;
}

function collect(machine: MachineState, now: number): Step {
  const { current, overtaken } = machine;
  if (!isToCollect(machine, now)) return null;
  return batch(machine, "collect", () => idsOf([current.ended, overtaken.ended], COLLECT_AT_ONCE));
}

function collectRests(state: RunState, { name, busy, rests, restsToTry }: MachineState): Step {
  if (restsToTry.size === 0 || busy.has("collect-rest")) return null;
  const some = firstOf(restsToTry, RESTS_AT_ONCE).flatMap((key) => rests.get(key) ?? []);
  return { kind: "collect-rest", machine: name, rests: some.map((attempt) => restOf(state, attempt)) };
}

function restOf({ jobs }: RunState, attempt: Attempt): Rest {
  const tracked = jobs.get(attempt.job);
  const isInPlace = tracked !== undefined && lastAttempt(tracked) === attempt;
  return { ...incompleteOf(attempt), key: attemptKey(attempt), isInPlace };
}

function free(state: RunState, machine: MachineState, { now, isQuiet }: Moment): Step {
  const { name, toFree, collectedAt } = machine;
  if (!hasFilesToFree(machine)) return null;
  // The last attempts are removed together with the spool. Other machines may be about to end, too.
  if (isThrough(state, machine, isQuiet) && isToClean(state, machine)) return null;
  if (!isQuiet && isLingering(machine) && !isRested(collectedAt, now)) return null;
  return { kind: "free", machine: name, attempts: firstOf(toFree, COLLECT_AT_ONCE) };
}

/** Does not call `pick` while such a verb is in progress. */
function batch(
  { name, busy }: MachineState,
  kind: "collect" | "retry" | "take-back" | "stop",
  pick: () => readonly JobId[],
): Step {
  if (busy.has(kind)) return null;
  const jobs = pick();
  return jobs.length === 0 ? null : { kind, machine: name, jobs };
}

/** True if the machine has only leftovers to clean up and will get nothing more. */
function isFinished(state: RunState, machine: MachineState, isQuiet: boolean): boolean {
  const { toFree, busy, restsToTry } = machine;
  if (busy.size + restsToTry.size > 0 || !isThrough(state, machine, isQuiet)) return false;
  return toFree.size === 0 || isToClean(state, machine);
}

/** An open machine stays until the batch's last job is collected, because that job may need it. */
function isThrough(state: RunState, machine: MachineState, isQuiet: boolean): boolean {
  if (!isEmpty(machine) || machine.toRetry.size > 0) return false;
  return isQuiet || (!machine.isOpen && !awaitsSuccess(state, machine));
}

/** Jobs with kept directories may still succeed on another machine, which frees the directories. */
function awaitsSuccess({ stock }: RunState, { kept }: MachineState): boolean {
  return kept.size > 0 && stock.takers.size > 0;
}

function isToClean({ isFed }: RunState, { hasSpool, stuck, rests, kept }: MachineState): boolean {
  return hasSpool && stuck + rests.size === 0 && (isFed || kept.size === 0);
}
