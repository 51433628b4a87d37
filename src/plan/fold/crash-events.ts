// Applies what the client does about jobs that crash at once in the same way.

import type { RunEvent } from "../../model/event.js";
import type { JobId } from "../../model/job.js";
import { endStreak, noteMoved, noteReopened } from "../crashes.js";
import { forgetEnd } from "../halt.js";
import { type RunState, toChange } from "../run-state.js";
import { setStage } from "./attempts.js";
import { interrupt } from "./job-events.js";

type EventOf<K extends RunEvent["kind"]> = Extract<RunEvent, { kind: K }>;

export function stopForCrash(state: RunState, event: EventOf<"same-crash">): void {
  endStreak(state);
  if (event.action === "pause") {
    state.isPaused = true;
    return;
  }
  state.halting.isForCrash = true;
  interrupt(state, "drain");
}

export function setAside(state: RunState, { machine: name, jobs }: EventOf<"machine-set-aside">): void {
  const machine = toChange(state, name);
  machine.isSetAside ||= machine.isOpen;
  machine.isOpen = false;
  noteMoved(state, name, jobs);
  for (const id of jobs) excuse(state, name, id);
}

export function reopenMachine(state: RunState, name: string): void {
  const machine = toChange(state, name);
  if (machine.isSetAside) noteReopened(state, name);
  Object.assign(machine, { isOpen: true, isSetAside: false });
}

/** Retries the job: at once if its results are here, otherwise when they are collected. */
function excuse(state: RunState, machine: string, id: JobId): void {
  const tracked = state.jobs.get(id);
  if (tracked?.fate.kind !== "tried" || tracked.fate.machine !== machine) return;
  if (tracked.traits.isGone || state.stopping.has(id)) return;
  const { stage } = tracked.fate;
  if (stage.kind !== "ended" && stage.kind !== "collected") return;
  forgetEnd(state, id);
  state.excused.add(id);
  if (stage.kind === "collected")
    setStage(state, toChange(state, machine), tracked.fate, { ...stage, isToRetry: true });
}
