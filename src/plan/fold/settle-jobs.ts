// Joins the jobs that a client asks for with the state that earlier clients left.

import type { Job, JobId } from "../../model/job.js";
import type { ScriptEdit } from "../../model/script-edit.js";
import { sortWaiting } from "../halt.js";
import type { RunState } from "../run-state.js";
import { applyEdit, setJob } from "./edit-events.js";
import { addJob } from "./initial-state.js";
import type { Past } from "./read-past.js";
import { forgetJobs } from "./replay.js";

export interface Settling {
  /** The jobs that the user asked for. */
  readonly given: readonly Job[];
  /** Null: the batch file has not changed. */
  readonly edit: ScriptEdit | null;
  /** Null: it is the first run. */
  readonly past: Past | null;
  /** Keeps jobs with attempts, because they may be given again, and each attempt has a number of its own. */
  readonly staysOpen: boolean;
}

/** Keeps in the state only the requested jobs, and jobs of an earlier run that may still be in progress. Returns all jobs that were ever known. */
export function settleJobs(state: RunState, { given, edit, past, staysOpen }: Settling): Map<JobId, Job> {
  for (const job of given) {
    const tracked = state.jobs.get(job.id);
    if (tracked === undefined) continue;
    setJob(state, tracked, job);
    // Inserts it again, so that the jobs are in the order of the file.
    state.jobs.delete(job.id);
    state.jobs.set(job.id, tracked);
  }
  for (const job of given) addJob(state, job);
  if (edit !== null) applyEdit(state, edit);
  const ids = new Set(given.map(({ id }) => id));
  const names = new Map(edit?.moves.map(({ job, to }) => [job, to]));
  const removed = [...(past?.jobs.values() ?? [])]
    .filter(({ id }) => !ids.has(id))
    .map((job) => ({ ...job, name: names.get(job.id) ?? job.name }));
  const isToForget = ({ id }: Job) => {
    const tracked = state.jobs.get(id);
    return !tracked?.traits.isGone && !(staysOpen && (tracked?.lastNumber ?? 0) > 0);
  };
  forgetJobs(
    state,
    removed.filter(isToForget).map(({ id }) => id),
  );
  if (past !== null) sortWaiting(state);
  return new Map([...given, ...removed].map((job) => [job.id, job]));
}
