// What events about a machine change: its link, what it was given, and the verbs that are under way there.

import { type Attempt, isUnbegun, QUEUED, SENT, UNKNOWN } from "../../model/attempt.js";
import type { MachineState, TrackedJob } from "../../model/batch-state.js";
import type { Decision, VerbNews } from "../../model/decision.js";
import type { RunEvent } from "../../model/event.js";
import { type JobId, kindOf } from "../../model/job.js";
import { type RunState, toChange } from "../run-state.js";
import { isReclaimed } from "./attempt-events.js";
import { discard, giveBack, noteFreed, noteRun, overtake, setStage, WAITING } from "./attempts.js";

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
      for (const key of decision.keys) noteFreed(machine, key);
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

export function welcome(machine: MachineState, { slots }: EventOf<"machine-ready">): void {
  machine.slots = slots.length;
  machine.kinds = new Set(slots.map((slot) => kindOf(slot.requirement)));
  returnMachine(machine);
}

export function returnMachine(machine: MachineState): void {
  machine.isGivenUp = false;
  machine.phase = "ready";
}

/** A link that falls again before it was of use has been lost all the time. */
export function loseMachine(machine: MachineState, at: number): void {
  if (machine.phase !== "lost") machine.lostAt = at;
  machine.phase = "lost";
  // What was asked for did not come.
  for (const key of machine.rests.keys()) machine.restsToTry.add(key);
}

/** Nothing of the batch is left there, but for results that cannot be taken: the next client tries again. */
export function finishMachine({ isFed }: RunState, machine: MachineState): void {
  const { attempts, stuck, rests, toFree, kept } = machine;
  const keeps = isFed ? 0 : kept.size;
  machine.hasSpool = attempts.size + stuck + rests.size + keeps > 0;
  machine.phase = "done";
  for (const key of [...toFree.keys(), ...(isFed ? kept.keys() : [])]) noteFreed(machine, key);
}

/** What it was given may have arrived, and may be running: its fate is unknown, and no other machine gets it. */
export function failMachine(state: RunState, machine: MachineState): void {
  machine.phase = "failed";
  machine.isOpen = false;
  const { assigned, sent, queued, running, ended } = machine.current;
  for (const attempt of [...assigned, ...sent, ...queued, ...running, ...ended])
    setStage(state, machine, attempt, UNKNOWN);
}

/** What the machine has lost of these is of unknown fate; one that another machine has by now is as if it had never been. */
export function loseSight(state: RunState, machine: MachineState, jobs: readonly JobId[]): void {
  forEachOf(state, machine, jobs, (tracked, attempt) => {
    if (attempt.isCurrent) setStage(state, machine, attempt, UNKNOWN);
    else discard(state, tracked, attempt);
  });
}

/** The machine could not take these. One that it had all along stays as it is. */
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
    if (isUnbegun(attempt)) discard(state, tracked, attempt);
  });
  forEachOf(state, machine, begun, (tracked, attempt) => {
    if (!isUnbegun(attempt)) return;
    isReclaimed(state, tracked, attempt);
    noteRun(tracked, attempt);
    setStage(state, machine, attempt, { kind: "running", slot: null, startedAt: null, isStopping: false });
  });
}

/** Should the machine come back, these attempts are taken back there, or kept beside if they have begun. */
export function reassign(state: RunState, machine: MachineState, jobs: readonly JobId[]): void {
  machine.isGivenUp = true;
  forEachOf(state, machine, jobs, (tracked, attempt) => {
    if (!attempt.isCurrent) return;
    overtake(state, tracked, WAITING);
    giveBack(state, tracked);
  });
}

/** What the machine has of these jobs. */
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
