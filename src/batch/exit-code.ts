// Chooses the exit code of a command from how the run ended. Pure.

import { ExitCode } from "../errors.js";
import { isHaltedWell } from "../plan/halt.js";
import { countJobs, type RunState } from "../plan/run-state.js";
import type { Ending } from "./follow/follow-batch.js";

export function exitCodeOf(ending: Ending): ExitCode {
  if (ending.kind === "detached") return ending.signal === null ? ExitCode.Success : ExitCode.Interrupted;
  return ending.isHeld ? ExitCode.BadInput : exitCodeOfState(ending.state);
}

function exitCodeOfState(state: RunState): ExitCode {
  const { succeeded, failed, stopped, lost, unfinished, blocked = 0 } = countJobs(state);
  if (isHaltedWell(state)) return ExitCode.Success;
  const { reached, isForCrash } = state.halting;
  if (state.interrupted !== "no")
    return reached === null && !isForCrash ? ExitCode.Interrupted : ExitCode.JobFailed;
  // No machine was left for jobs that might have arrived.
  if (state.isMoreToCome) return ExitCode.NoMachine;
  // A machine that answered, but cannot take a copy of the working directory, does not count either.
  const machines = [...state.machines.values()];
  const hadMachine = machines.some(({ slots, isOpen }) => slots > 0 && isOpen);
  const done = succeeded + failed + stopped + lost;
  const isAnyThere = state.tally.unknown > 0 || machines.some(({ stuck }) => stuck > 0);
  if (unfinished > blocked && done === state.halting.skipped && !hadMachine && !isAnyThere)
    return ExitCode.NoMachine;
  const isIncomplete = machines.some(({ rests }) => rests.size > 0);
  const isAllGood = failed + stopped + lost + unfinished + state.refused === 0 && !isIncomplete;
  return isAllGood ? ExitCode.Success : ExitCode.JobFailed;
}
