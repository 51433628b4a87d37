// The command itself: reads what was asked for, connects the rooms, and answers with an exit code.

import { ExitCode } from "../errors.js";
import { loadBatch } from "../input/load.js";
import type { RunEvent } from "../model/event.js";
import type { Slot } from "../model/machine.js";
import { deviceEnv } from "../plan/devices.js";
import { countJobs, type RunState } from "../plan/state.js";
import { scanTree } from "../remote/tree.js";
import { startRun } from "../run/batch-run.js";
import { Results } from "../run/results.js";
import { resolveBackwards, resolveForward } from "./copy-paths.js";
import { dryRun } from "./dry-run.js";
import type { RunOptions } from "./options.js";
import { createReporter } from "./reporters.js";
import { Detached, listenForSignals } from "./signals.js";
import { connector, machinesFor, readSurroundings } from "./surroundings.js";

export async function executeBatch(options: RunOptions): Promise<ExitCode> {
  const surroundings = readSurroundings();
  const jobs = await loadBatch(options.script);
  const machines = await machinesFor(options.machines, surroundings);
  const copyForward = resolveForward(options.copyForward, surroundings.cwd);
  const copyBack = resolveBackwards(options.copyBackwards, surroundings.cwd);
  if (options.isDryRun) return dryRun({ jobs, machines, options, surroundings });
  const tree = await scanTree(surroundings.cwd, copyForward);
  const results = new Results(surroundings.cwd);
  await results.prepare();

  const slots = new Map<string, readonly Slot[]>();
  const reporter = await createReporter(
    options,
    machines.map(({ name }) => name),
    (machine, index) => {
      const slot = slots.get(machine)?.[index];
      return slot === undefined ? {} : deviceEnv(slot, options.requirement);
    },
  );
  const onEvent = (event: RunEvent) => {
    if (event.kind === "machine-ready") slots.set(event.machine, event.slots);
    reporter.show(event);
    if (options.detaches && event.kind === "jobs-handed-over" && run.isHandedOver())
      run.abandon(new Detached());
  };
  const run = startRun({
    ...options,
    jobs,
    machines,
    copyBack,
    tree,
    results,
    onEvent,
    connect: connector(surroundings, (message) => run.emit({ kind: "warning", message })),
  });
  const stopListening = listenForSignals(run);
  try {
    return exitCodeOf(await run.finish());
  } catch (error) {
    if (!(error instanceof Detached)) throw error;
    return error.signal === null ? ExitCode.Success : ExitCode.Interrupted;
  } finally {
    stopListening();
    reporter.close();
  }
}

function exitCodeOf(state: RunState): ExitCode {
  const { failed, unfinished } = countJobs(state);
  if (state.interrupted !== "no") return ExitCode.Interrupted;
  const hadMachine = [...state.machines.values()].some(({ slots }) => slots > 0);
  if (unfinished > 0 && !hadMachine) return ExitCode.NoMachine;
  return failed + unfinished > 0 ? ExitCode.JobFailed : ExitCode.Success;
}
