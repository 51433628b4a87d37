// Finds the jobs of an earlier run in an edited batch file. The command identifies a job, even if its line moved.

import type { Job, JobId } from "../../model/job.js";

export interface PastJob {
  readonly job: Job;
  /** The command of the last attempt. */
  readonly command: string;
  /** Of equal commands, the ones with the most progress are kept. */
  readonly progress: number;
}

export interface Matching {
  /** The given jobs, each with its final id. */
  readonly jobs: readonly Job[];
  /** Final ids, by the ids in the given jobs. */
  readonly ids: ReadonlyMap<JobId, JobId>;
  /** Jobs that are no longer in the file. */
  readonly gone: readonly JobId[];
  /** Ids of jobs that are new. */
  readonly added: ReadonlySet<JobId>;
}

/** Matches equal keys in order, jobs with the same label first. New ids are above `highest`. */
export function matchJobs(
  past: readonly PastJob[],
  given: readonly Job[],
  { highest, by }: { readonly highest: JobId; readonly by: "command" | "name" },
): Matching {
  const keyOf = by === "command" ? ({ command }: Job) => command : ({ name }: Job) => name;
  const labelled = matchLabels(past, given);
  const taken = new Set(labelled.values());
  const wanted = countBy(
    given.filter(({ id }) => !labelled.has(id)),
    keyOf,
  );
  const pastKey = ({ job, command }: PastJob) => keyOf({ ...job, command });
  const kept = new Map<string, PastJob[]>();
  const free = past.filter((each) => !taken.has(each));
  for (const [key, group] of groupBy(free, pastKey))
    kept.set(key, furthest(group, wanted.get(key) ?? 0).reverse());
  const ids = new Map<JobId, JobId>();
  const added = new Set<JobId>();
  let last = highest;
  const numbered = given.map((job) => {
    const same = labelled.get(job.id) ?? kept.get(keyOf(job))?.pop();
    if (same === undefined) {
      last = Math.max(last + 1, job.id);
      added.add(last);
    }
    const id = same?.job.id ?? last;
    ids.set(job.id, id);
    return withId(job, id);
  });
  const jobs = numbered.map((job) => withDependencies(job, ids));
  const used = new Set(ids.values());
  const gone = past.map(({ job }) => job.id).filter((id) => !used.has(id));
  return { jobs, ids, gone, added };
}

/** By given id. A job with the same command and label as before is the same job, even if other jobs have that command. */
function matchLabels(past: readonly PastJob[], given: readonly Job[]): Map<JobId, PastJob> {
  const matched = new Map<JobId, PastJob>();
  const named = new Map(
    past.flatMap((each) => (each.job.label === undefined ? [] : [[labelKey(each), each]])),
  );
  if (named.size === 0) return matched;
  for (const job of given) {
    const same = job.label === undefined ? undefined : named.get(labelKey({ job, command: job.command }));
    if (same !== undefined) matched.set(job.id, same);
  }
  return matched;
}

function labelKey({ job, command }: Pick<PastJob, "job" | "command">): string {
  return `${job.label}\n${command}`;
}

/** The `count` jobs with the most progress, in their original order. */
function furthest(group: readonly PastJob[], count: number): PastJob[] {
  if (group.length <= count) return [...group];
  const kept = new Set(group.toSorted((one, other) => other.progress - one.progress).slice(0, count));
  return group.filter((each) => kept.has(each));
}

/** Jobs start in the order of the file, not of their ids. */
function withId(job: Job, id: JobId): Job {
  return id === job.id ? job : { ...job, id, order: job.order ?? job.id };
}

function withDependencies(job: Job, ids: ReadonlyMap<JobId, JobId>): Job {
  if (job.dependsOn === undefined) return job;
  const dependsOn = job.dependsOn.map(({ job: id, when }) => ({ job: ids.get(id) ?? id, when }));
  return { ...job, dependsOn };
}

function countBy<T>(items: readonly T[], keyOf: (item: T) => string): Map<string, number> {
  const counts = new Map<string, number>();
  for (const item of items) counts.set(keyOf(item), (counts.get(keyOf(item)) ?? 0) + 1);
  return counts;
}

function groupBy<T>(items: readonly T[], keyOf: (item: T) => string): Map<string, T[]> {
  const groups = new Map<string, T[]>();
  for (const item of items) {
    const group = groups.get(keyOf(item));
    if (group) group.push(item);
    else groups.set(keyOf(item), [item]);
  }
  return groups;
}
