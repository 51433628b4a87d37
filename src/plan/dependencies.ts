// Which jobs come after which, and how many of a job's dependencies are not met. A batch without dependencies costs
// nothing here; otherwise the end of a job costs as much as it has dependants.

import type { Fate, TrackedJob } from "../model/batch-state.js";
import { turnoutOf, type Verdict, verdictOf } from "../model/dependency.js";
import type { Dependency, Job, JobId, Turnout } from "../model/job.js";

export interface Dependencies {
  /** By job: what the jobs that come after it wait for. */
  readonly dependants: Map<JobId, Set<Edge>>;
  /** By job that comes after others. */
  readonly counts: Map<JobId, Counts>;
  /** Of the jobs that others come after, as last counted. */
  readonly turnouts: Map<JobId, Turnout>;
  /** Jobs that are skipped because of others, and that no event has reported yet. */
  readonly untold: Set<JobId>;
}

interface Edge extends Dependency {
  /** The job that comes after `job`. */
  readonly dependant: JobId;
}

/** How many dependencies of a job have each verdict. */
interface Counts extends Record<Verdict, number> {
  readonly edges: readonly Edge[];
}

export function newDependencies(): Dependencies {
  return { dependants: new Map(), counts: new Map(), turnouts: new Map(), untold: new Set() };
}

type TrackedJobs = ReadonlyMap<JobId, TrackedJob>;

/** Replaces what the job comes after. */
export function link(all: Dependencies, { id, dependsOn = [] }: Job, jobs: TrackedJobs): void {
  unlink(all, id);
  if (dependsOn.length === 0) return;
  const edges = dependsOn.map((each) => ({ ...each, dependant: id }));
  const counts: Counts = { edges, open: 0, met: 0, never: 0, unneeded: 0 };
  for (const edge of edges) {
    addEdge(all, edge, jobs);
    counts[verdictOf(edge.when, all.turnouts.get(edge.job))]++;
  }
  all.counts.set(id, counts);
}

/** From its first dependant on, a job's turnout is noted. */
function addEdge({ dependants, turnouts }: Dependencies, edge: Edge, jobs: TrackedJobs): void {
  const known = dependants.get(edge.job);
  if (known) {
    known.add(edge);
    return;
  }
  dependants.set(edge.job, new Set([edge]));
  const tracked = jobs.get(edge.job);
  if (tracked !== undefined) turnouts.set(edge.job, turnoutOf(tracked));
}

export function unlink({ dependants, counts, turnouts }: Dependencies, id: JobId): void {
  for (const edge of counts.get(id)?.edges ?? []) {
    const known = dependants.get(edge.job);
    known?.delete(edge);
    if (known?.size !== 0) continue;
    dependants.delete(edge.job);
    turnouts.delete(edge.job);
  }
  counts.delete(id);
}

/** Counts how the job turned out, and returns the jobs for which that changes something. `tracked`: undefined if it is gone. */
export function recount(all: Dependencies, id: JobId, tracked: TrackedJob | undefined): JobId[] {
  const edges = all.dependants.get(id);
  if (edges === undefined) return [];
  const before = all.turnouts.get(id);
  const now = tracked && turnoutOf(tracked);
  if (now === before) return [];
  if (now === undefined) all.turnouts.delete(id);
  else all.turnouts.set(id, now);
  const changed: JobId[] = [];
  for (const { dependant, when } of edges) {
    const counts = all.counts.get(dependant) as Counts;
    const [was, is] = [verdictOf(when, before), verdictOf(when, now)];
    if (was === is) continue;
    counts[was]--;
    counts[is]++;
    changed.push(dependant);
  }
  return changed;
}

/** The fate of a job that is to run. "held": it waits for other jobs. */
export function fateOfWanted({ counts }: Dependencies, id: JobId): "waiting" | "held" | SkippedKind {
  const own = counts.get(id);
  if (own === undefined) return "waiting";
  if (own.never > 0) return "blocked";
  if (own.unneeded > 0) return "unneeded";
  return own.open > 0 ? "held" : "waiting";
}

type SkippedKind = Extract<Fate["kind"], "blocked" | "unneeded">;
