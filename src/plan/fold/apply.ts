// Applies each event to the state of a run. No I/O, clock or randomness: the same events give the same state.

import { countHeld } from "../../model/batch-times.js";
import type { VerbNews } from "../../model/decision.js";
import type { RunEvent } from "../../model/event.js";
import { beginStretch, noteSign } from "../../model/life.js";
import { newCrashes, noteArrivals } from "../crashes.js";
import { newHalting, sortWaiting } from "../halt.js";
import { type RunState, toChange } from "../run-state.js";
import { applyToAttempt, collectRest } from "./attempt-events.js";
import { reopenMachine, setAside, stopForCrash } from "./crash-events.js";
import { applyEdit } from "./edit-events.js";
import { grow } from "./grow-events.js";
import { addJob } from "./initial-state.js";
import {
  addJobs,
  assign,
  dropHomeless,
  interrupt,
  leaveOut,
  reopen,
  replace,
  resumeJobs,
  retry,
  skip,
  stopJobs,
  undrain,
} from "./job-events.js";
import { noteKept, setKeeping } from "./kept-events.js";
import {
  beginVerb,
  endVerb,
  failMachine,
  finishMachine,
  loseMachine,
  loseSight,
  noteArrived,
  reassign,
  returnMachine,
  serve,
  takeBack,
  unassign,
  welcome,
} from "./machine-events.js";

/** Returns false if the event changed nothing: after a lost link, machines report some events again. */
export function apply(state: RunState, event: RunEvent | VerbNews): boolean {
  const isNews = applyRecorded(state, event);
  if (state.kinds.size > 0 && state.waiting.size > 0 && event.kind !== "job-said") dropHomeless(state);
  return isNews;
}

/** Applies an event of an earlier run, whose machines may differ from the machines of this run. */
export function applyRecorded(state: RunState, event: RunEvent | VerbNews): boolean {
  if (event.kind !== "run-started") noteSign(state.life, event.at);
  switch (event.kind) {
    case "job-started":
    case "job-ended":
    case "job-collected":
    case "job-stuck":
      return applyToAttempt(state, event);
    default:
      applyToRun(state, event);
      return true;
  }
}

type AttemptEvent = Parameters<typeof applyToAttempt>[1];

function applyToRun(state: RunState, event: Exclude<RunEvent | VerbNews, AttemptEvent>): void {
  switch (event.kind) {
    case "verb-begun":
      return beginVerb(state, event.decision);
    case "verb-ended":
      return endVerb(state, event);
    case "run-started":
      for (const job of event.jobs) addJob(state, job);
      if (event.edit !== undefined) applyEdit(state, event.edit);
      setKeeping(state, event.settings);
      state.leftOut.clear();
      state.halting = newHalting();
      state.crashes = newCrashes();
      beginStretch(state.life, { at: event.at, jobs: event.jobs.length, held: countHeld(state) });
      return;
    case "jobs-added":
      noteArrivals(state);
      return addJobs(state, event.jobs);
    case "job-refused":
      state.refused++;
      return;
    case "jobs-complete":
      state.isMoreToCome = false;
      return;
    case "job-skipped":
      return skip(state, event);
    case "job-blocked":
      state.dependencies.untold.delete(event.job);
      return;
    case "job-reopened":
      return reopen(state, event);
    case "job-replaced":
      return replace(state, event.job);
    case "machine-ready":
      state.firstReadyAt ??= event.at;
      return welcome(toChange(state, event.machine), event);
    case "machine-serves":
      return serve(toChange(state, event.machine), event);
    case "machine-back":
      return returnMachine(toChange(state, event.machine));
    case "machine-lost":
      return loseMachine(toChange(state, event.machine), event.at);
    case "machine-done":
      return finishMachine(state, toChange(state, event.machine));
    case "machine-failed":
      return failMachine(state, toChange(state, event.machine), event);
    case "machine-refused":
      toChange(state, event.machine).isOpen = false;
      return unassign(state, toChange(state, event.machine), event.jobs);
    case "machine-draining":
      toChange(state, event.machine).isOpen = false;
      return;
    case "machine-set-aside":
      return setAside(state, event);
    case "machine-opened":
      return reopenMachine(state, event.machine);
    case "slot-waiting":
      toChange(state, event.machine).isFull = true;
      return;
    case "jobs-left-out":
      return leaveOut(state, event);
    case "jobs-assigned":
      return assign(state, toChange(state, event.machine), event);
    case "jobs-handed-over":
      return noteArrived(state, toChange(state, event.machine), event.jobs);
    case "jobs-taken-back":
      return takeBack(state, toChange(state, event.machine), event);
    case "jobs-reassigned":
      return reassign(state, toChange(state, event.machine), event.jobs);
    case "jobs-gone":
      return loseSight(state, toChange(state, event.machine), event.jobs);
    case "jobs-retried":
      return retry(state, event);
    case "job-grown":
      return grow(state, event);
    case "rest-collected":
      return collectRest(state, event);
    case "dirs-kept":
      return noteKept(toChange(state, event.machine), event.jobs);
    case "jobs-stopping":
      return stopJobs(state, event.jobs);
    case "jobs-resumed":
      return resumeJobs(state, event.jobs);
    case "interrupted":
      state.halting.reached = null;
      state.halting.isForCrash = false;
      return interrupt(state, event.mode);
    case "halted":
      state.halting.reached = state.policy.halt ?? null;
      return interrupt(state, event.when === "now" ? "stop" : "drain");
    case "same-crash":
      return stopForCrash(state, event);
    case "paused":
      state.isPaused = true;
      return;
    case "continued":
      if (event.from === "drain") undrain(state);
      else state.isPaused = false;
      return sortWaiting(state);
    case "results-moved":
    case "run-resumed":
    case "tree-read":
    case "staging":
    case "staged":
    case "collecting":
    case "jobs-arrived":
    case "machine-quiet":
    case "job-resumes":
    case "job-said":
    case "job-output":
    case "output-restarted":
    case "old-results-removed":
    case "warning":
    case "run-ended":
      return;
    default:
      event satisfies never;
  }
}
