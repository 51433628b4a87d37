// Compares a batch file with the jobs in the record: which jobs are the same, new or gone, and what that means for
// their results.

import type { TrackedJob } from "../../model/batch-state.js";
import type { Job, JobId } from "../../model/job.js";
import type { JobMove, ScriptEdit } from "../../model/script-edit.js";
import { attemptsOf, outcomeAtHome, runsOf } from "../../model/standing.js";
import type { Past } from "../fold/read-past.js";
import type { RunState } from "../run-state.js";
import { ENDINGS, planFiles } from "./file-moves.js";
import { type Matching, matchJobs, type PastJob } from "./match-jobs.js";

interface Compared {
  readonly given: readonly Job[];
  readonly past: Past;
  /** The state after the record was replayed. */
  readonly state: RunState;
}

/** By command, a job stays the same when its line moves. By name, it stays the same when its command changes. */
export function matchGiven({ given, past, state }: Compared, by: "command" | "name"): Matching {
  let highest = 0;
  for (const id of past.jobs.keys()) highest = Math.max(highest, id);
  return matchJobs(pastJobs(past, state, by), given, { highest, by });
}

/** Includes a gone job only while it may still run. */
function pastJobs({ jobs, commands }: Past, state: RunState, by: "command" | "name"): PastJob[] {
  const known: PastJob[] = [];
  for (const [id, job] of jobs) {
    const tracked = state.jobs.get(id);
    if (tracked === undefined || (tracked.traits.isGone && by === "name")) continue;
    known.push({ job, command: commands.get(id) ?? job.command, progress: progressOf(tracked) });
  }
  const placeOf = ({ job }: PastJob) => job.order ?? job.id;
  return known.sort((one, other) => placeOf(one) - placeOf(other));
}

function progressOf(tracked: TrackedJob): number {
  if (tracked.traits.isGone) return 0;
  if (outcomeAtHome(tracked) !== undefined) return 3;
  return runsOf(tracked) > 0 ? 2 : 1;
}

/** `there`: the entries of job_results/. Returns null if the file has the same commands on the same lines. */
export function editOf(
  { past, state }: Compared,
  matching: Matching,
  there: readonly string[],
): ScriptEdit | null {
  const { jobs, added } = matching;
  const gone = matching.gone.filter((id) => !state.jobs.get(id)?.traits.isGone);
  const wasTried = (id: JobId) => (state.jobs.get(id)?.lastNumber ?? 0) > 0;
  const hasBegun = (id: JobId) => {
    const tracked = state.jobs.get(id);
    return tracked !== undefined && runsOf(tracked) > 0;
  };
  const nameOf = (id: JobId) => past.jobs.get(id)?.name ?? "";
  const renamed = jobs.flatMap(({ id, name }): JobMove[] =>
    wasTried(id) && nameOf(id) !== name ? [{ job: id, from: nameOf(id), to: name }] : [],
  );
  if (renamed.length + gone.length + added.size === 0) return null;
  const triedGone = gone.filter(wasTried);
  const { moves, files } = planFiles({
    moves: renamed,
    aside: triedGone.map((id) => ({ job: id, name: nameOf(id) })),
    owners: new Set([...state.jobs.keys()].filter(wasTried).map(nameOf)),
    there,
  });
  const names = new Set(there);
  const isFiled = (name: string) => ENDINGS.some((ending) => names.has(name + ending));
  const aside = triedGone.filter((id) => isFiled(nameOf(id)) || hasBegun(id));
  const counts = {
    moved: renamed.filter(({ from }) => isFiled(from)).length,
    aside: aside.length,
    dropped: gone.length - aside.length,
    added: added.size,
  };
  return { moves, gone, after: versions({ past, state }, matching, gone), files, counts };
}

/** New jobs that have the name of a gone job. */
function versions(
  { past, state }: Pick<Compared, "past" | "state">,
  { jobs, added }: Matching,
  gone: readonly JobId[],
): (readonly [JobId, JobId])[] {
  const goneByName = new Map(gone.map((id) => [past.jobs.get(id)?.name, id]));
  return jobs.flatMap(({ id, name }) => {
    const earlier = added.has(id) ? state.jobs.get(goneByName.get(name) ?? 0) : undefined;
    if (earlier === undefined) return [];
    const { job, traits } = earlier;
    const before = attemptsOf(earlier).length > 0 ? job.id : traits.after;
    return before === null ? [] : [[id, before] as const];
  });
}
