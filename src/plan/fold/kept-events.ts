// What changes which directories stay on machines (--keep-dir), apart from how attempts end.

import type { BatchSettings } from "../../model/batch.js";
import type { MachineState } from "../../model/batch-state.js";
import type { JobId } from "../../model/job.js";
import { keepsDir } from "../kept-dirs.js";
import type { RunState } from "../run-state.js";
import { noteFreed, release } from "./attempts.js";

/** A run in which they are not to stay frees those of earlier ones. */
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

/** The machine was asked which it has. */
export function noteKept(machine: MachineState, jobs: readonly JobId[]): void {
  const there = new Set(jobs);
  for (const [key, { job }] of [...machine.kept]) if (!there.has(job)) noteFreed(machine, key);
}
