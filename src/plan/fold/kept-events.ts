// Applies events that change which directories stay on machines (--keep-dir), except the ends of attempts.

import type { BatchSettings } from "../../model/batch.js";
import type { MachineState } from "../../model/batch-state.js";
import type { JobId } from "../../model/job.js";
import { keepsDir } from "../kept-dirs.js";
import type { RunState } from "../run-state.js";
import { noteFreed, release } from "./attempts.js";

/** A run without --keep-dir frees the directories that earlier runs kept. */
export function setKeeping(state: RunState, { keepsDir: keepsDirs = false }: BatchSettings): void {
  state.keepsDirs = keepsDirs;
  for (const { kept } of state.machines.values()) {
    const unwanted = [...kept.values()].filter(({ job }) => {
      const tracked = state.jobs.get(job);
      return tracked === undefined || !keepsDir(state, tracked);
    });
    release(state, unwanted);
  }
}

/** Applies the machine's own list of the directories that it has. */
export function noteKept(machine: MachineState, jobs: readonly JobId[]): void {
  const there = new Set(jobs);
  for (const attempt of [...machine.kept.values()]) if (!there.has(attempt.job)) noteFreed(machine, attempt);
}
