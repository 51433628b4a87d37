// Follows a batch to its end, whichever command asked for it: shows what happens, listens for signals, and answers
// with an exit code.

import { ExitCode } from "../errors.js";
import type { RunEvent } from "../model/event.js";
import type { Slot } from "../model/machine.js";
import { isHaltedWell } from "../plan/halt.js";
import { countJobs, type RunState } from "../plan/run-state.js";
import { deviceEnv } from "../plan/slots/devices.js";
import { type BatchOrder, type BatchRun, startRun } from "../run/batch-run.js";
import type { LastingConnector, Surroundings } from "./surroundings.js";
import { drained } from "../cli/terminal/drained.js";
import { createReporter, type ReporterChoice } from "../cli/terminal/reporters.js";
import { Detached, listenForSignals } from "../cli/terminal/signals.js";

export interface Following {
  readonly order: Omit<BatchOrder, "onEvent" | "connect" | "client">;
  readonly surroundings: Surroundings;
  readonly options: ReporterChoice;
  readonly connector: LastingConnector;
  /** Brings jobs while the batch runs. */
  readonly feed?: ((run: BatchRun, signal: AbortSignal) => Promise<void>) | undefined;
  /** Called at the beginning and after every event; true: that is enough, leave. */
  readonly isEnough?: (run: BatchRun, event: RunEvent) => boolean;
}

export async function followBatch(following: Following): Promise<ExitCode> {
  const { order, surroundings, options, connector, feed, isEnough } = following;
  const slots = new Map<string, readonly Slot[]>();
  const reporter = await createReporter(
    options,
    order.machines.map(({ name }) => name),
    (machine, index) => {
      const slot = slots.get(machine)?.[index];
      return slot === undefined ? {} : deviceEnv(slot, slot.requirement ?? order.requirement);
    },
  );
  let isHeld = false;
  const onEvent = (event: RunEvent, isNews: boolean) => {
    if (event.kind === "machine-failed" && event.isHeld) isHeld = true;
    if (event.kind === "machine-ready") slots.set(event.machine, event.slots);
    reporter.show(event, { state: run.state, isNews });
    if (isEnough?.(run, event)) run.abandon(new Detached());
  };
  const { connect, audience } = connector;
  audience.onNote = (message) => run.emit({ kind: "warning", message });
  audience.view = reporter;
  const onOutput: BatchOrder["onOutput"] = async (output, signal) => {
    reporter.show(output, { state: run.state, isNews: true });
    await drained([process.stdout, process.stderr], signal);
  };
  const run = startRun({
    ...order,
    ...(options.tees && { onOutput }),
    client: clientName(surroundings),
    onEvent,
    connect,
  });
  const stopListening = listenForSignals(run);
  const over = new AbortController();
  feed?.(run, over.signal).catch(run.abandon);
  let isDetached = false;
  try {
    const state = await run.finish();
    // No machine let us in, and another client is the reason: nothing was done.
    return isHeld && slots.size === 0 ? ExitCode.BadInput : exitCodeOf(state);
  } catch (error) {
    if (!(error instanceof Detached)) throw error;
    isDetached = true;
    return error.signal === null ? ExitCode.Success : ExitCode.Interrupted;
  } finally {
    over.abort();
    stopListening();
    reporter.close();
    if (isDetached) process.stderr.write(`${farewell(run)}\n`);
  }
}

function clientName({ username, computer, cwd }: Surroundings): string {
  return `${username}@${computer}:${cwd}`.replace(/[\n\0]/g, "?");
}

function farewell(run: BatchRun): string {
  const comeBack = "the same command again, or sshoal attach, follows them";
  return run.isHandedOver()
    ? `detached: the machines go on by themselves; ${comeBack}`
    : `detached: what was handed over goes on, the other jobs wait; ${comeBack}`;
}

function exitCodeOf(state: RunState): ExitCode {
  const { succeeded, failed, stopped, lost, unfinished, skipped } = countJobs(state);
  if (isHaltedWell(state)) return ExitCode.Success;
  if (state.interrupted !== "no")
    return state.halting.reached === null ? ExitCode.Interrupted : ExitCode.JobFailed;
  // Nobody was left to take what might have come.
  if (state.isMoreToCome) return ExitCode.NoMachine;
  // A machine that answered, but cannot take a copy of the working directory, is of no use either.
  const machines = [...state.machines.values()];
  const hadMachine = machines.some(({ slots, isOpen }) => slots > 0 && isOpen);
  const done = succeeded + failed + stopped + lost;
  const isAnyThere = state.tally.unknown > 0 || machines.some(({ stuck }) => stuck > 0);
  if (unfinished > 0 && done === skipped && !hadMachine && !isAnyThere) return ExitCode.NoMachine;
  const isIncomplete = machines.some(({ rests }) => rests.size > 0);
  const isAllGood = failed + stopped + lost + unfinished === 0 && !isIncomplete;
  return isAllGood ? ExitCode.Success : ExitCode.JobFailed;
}
