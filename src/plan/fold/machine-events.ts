// Applies events about a machine: its connection, the jobs it was given, and the verbs in progress on it.

import { type Attempt, isUnbegun, QUEUED, SENT, UNKNOWN } from "../../model/attempt.js";
import type { MachineState, TrackedJob } from "../../model/batch-state.js";
import type { Decision, VerbNews } from "../../model/decision.js";
import type { RunEvent } from "../../model/event.js";
import { type JobId, kindOf } from "../../model/job.js";
import type { ShortKind } from "../../model/left-out.js";
import { type RunState, toChange } from "../run-state.js";
import { isReclaimed } from "./attempt-events.js";
import { discard, giveBack, noteFreed, noteRun, overtake, setStage, setTraits } from "./attempts.js";
import { WAITING } from "./fates.js";

type EventOf<K extends RunEvent["kind"]> = Extract<RunEvent, { kind: K }>;

export function beginVerb(state: RunState, decision: Decision): void {
  const machine = toChange(state, decision.machine);
  machine.busy.add(decision.kind);
  switch (decision.kind) {
    case "connect":
      machine.phase = "connecting";
      return;
    case "finish":
      machine.phase = "finishing";
      return;
    case "hand-over":
      for (const attempt of attemptsOf(machine, decision.jobs))
        if (attempt.stage.kind === "assigned") setStage(state, machine, attempt, SENT);
      return;
    case "stop":
      for (const attempt of attemptsOf(machine, decision.jobs)) {
        const { stage } = attempt;
        if (stage.kind === "running") setStage(state, machine, attempt, { ...stage, isStopping: true });
      }
      return;
    case "collect-rest":
      for (const { key } of decision.rests) machine.restsToTry.delete(key);
      return;
    case "free":
      for (const attempt of decision.attempts) noteFreed(machine, attempt);
      return;
    case "reconnect":
    case "collect":
    case "retry":
    case "take-back":
      return;
    default:
      decision satisfies never;
  }
}

export function endVerb(state: RunState, { decision, at }: VerbNews): void {
  const machine = toChange(state, decision.machine);
  machine.busy.delete(decision.kind);
  if (decision.kind === "collect") machine.collectedAt = at;
}

export function welcome(machine: MachineState, { slots, kinds, short }: EventOf<"machine-ready">): void {
  machine.slots = slots.length;
  noteShort(machine, short);
  machine.kinds = new Set(kinds ?? slots.map((slot) => kindOf(slot.requirement)));
  returnMachine(machine);
}

export function serve(machine: MachineState, { kinds, short }: EventOf<"machine-serves">): void {
  noteShort(machine, short);
  machine.kinds = new Set([...machine.kinds, ...kinds]);
}

function noteShort(machine: MachineState, short: readonly ShortKind[] = []): void {
  if (short.length === 0) return;
  machine.short = new Map([...machine.short, ...short.map(({ kind, reason }) => [kind, reason] as const)]);
}

export function returnMachine(machine: MachineState): void {
  machine.isGivenUp = false;
  machine.phase = "ready";
}

/** If the connection drops again before it was used, the machine counts as lost since the first drop. */
export function loseMachine(machine: MachineState, at: number): void {
  if (machine.phase !== "lost") machine.lostAt = at;
  machine.phase = "lost";
  // These results did not arrive, so they are requested again.
  for (const key of machine.rests.keys()) machine.restsToTry.add(key);
}

/** Nothing of the batch is left on the machine, except results that cannot be collected: the next client tries again. */
export function finishMachine({ isFed }: RunState, machine: MachineState): void {
  const { attempts, stuck, rests, toFree, kept } = machine;
  const keeps = isFed ? 0 : kept.size;
  machine.hasSpool = attempts.size + stuck + rests.size + keeps > 0;
  machine.phase = "done";
  for (const attempt of [...toFree, ...(isFed ? kept.values() : [])]) noteFreed(machine, attempt);
}

/** Jobs that were sent may have arrived and may run. Their fate is unknown, so no other machine gets them. */
export function failMachine(
  state: RunState,
  machine: MachineState,
  { short }: EventOf<"machine-failed">,
): void {
  machine.phase = "failed";
  noteShort(machine, short);
  machine.isOpen = false;
  const { assigned, sent, queued, running, ended } = machine.current;
  for (const attempt of [...assigned, ...sent, ...queued, ...running, ...ended])
    setStage(state, machine, attempt, UNKNOWN);
}

/**
 * The machine has lost these jobs, so their fate is unknown. An attempt whose job is on another machine by now is
 * discarded.
 */
export function loseSight(state: RunState, machine: MachineState, jobs: readonly JobId[]): void {
  forEachOf(state, machine, jobs, (tracked, attempt) => {
    if (attempt.isCurrent) setStage(state, machine, attempt, UNKNOWN);
    else discard(state, tracked, attempt);
  });
}

/** The machine could not accept these jobs. An attempt that it already had does not change. */
export function unassign(state: RunState, machine: MachineState, jobs: readonly JobId[]): void {
  forEachOf(state, machine, jobs, (tracked, attempt) => {
    if (attempt.isCurrent && isUnbegun(attempt)) discard(state, tracked, attempt);
  });
}

export function noteArrived(state: RunState, machine: MachineState, jobs: readonly JobId[]): void {
  for (const attempt of attemptsOf(machine, jobs)) {
    const { kind } = attempt.stage;
    if (kind === "assigned" || kind === "sent") setStage(state, machine, attempt, QUEUED);
  }
}

export function takeBack(
  state: RunState,
  machine: MachineState,
  { jobs, begun }: EventOf<"jobs-taken-back">,
): void {
  forEachOf(state, machine, jobs, (tracked, attempt) => {
    if (!isUnbegun(attempt)) return;
    if (machine.isFull) setTraits(tracked, { avoids: machine.name });
    discard(state, tracked, attempt);
  });
  forEachOf(state, machine, begun, (tracked, attempt) => {
    if (!isUnbegun(attempt)) return;
    isReclaimed(state, tracked, attempt);
    noteRun(tracked, attempt);
    setStage(state, machine, attempt, { kind: "running", slot: null, startedAt: null, isStopping: false });
  });
}

/**
 * If the machine comes back, these attempts are taken back; if they have begun, their results are kept under another
 * name.
 */
export function reassign(state: RunState, machine: MachineState, jobs: readonly JobId[]): void {
  machine.isGivenUp = true;
  forEachOf(state, machine, jobs, (tracked, attempt) => {
    if (!attempt.isCurrent) return;
    overtake(state, tracked, WAITING);
    giveBack(state, tracked);
  });
}

/** The machine's attempts of these jobs. */
function attemptsOf({ attempts }: MachineState, jobs: readonly JobId[]): Attempt[] {
  const found: Attempt[] = [];
  for (const id of jobs) {
    const attempt = attempts.get(id);
    if (attempt !== undefined) found.push(attempt);
  }
  return found;
}

function forEachOf(
  state: RunState,
  machine: MachineState,
  jobs: readonly JobId[],
  act: (tracked: TrackedJob, attempt: Attempt) => void,
): void {
  for (const attempt of attemptsOf(machine, jobs)) {
    const tracked = state.jobs.get(attempt.job);
    if (tracked !== undefined) act(tracked, attempt);
  }
}
