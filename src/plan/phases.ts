// The order in which jobs that come after others can begin, for `--dry-run`.

import type { Job, JobId } from "../model/job.js";

/** The first phase has the jobs that can begin at once, the next one those that come after them. Other jobs count as done. */
export function phasesOf(jobs: readonly Job[]): Job[][] {
  const open = new Map(jobs.map((job) => [job.id, job]));
  const left = new Map<JobId, number>();
  const next = new Map<JobId, Job[]>();
  for (const job of jobs) {
    const before = new Set((job.dependsOn ?? []).map((each) => each.job).filter((id) => open.has(id)));
    left.set(job.id, before.size);
    for (const id of before) {
      const those = next.get(id);
      if (those) those.push(job);
      else next.set(id, [job]);
    }
  }
  const phases: Job[][] = [];
  let phase = jobs.filter(({ id }) => left.get(id) === 0);
  while (phase.length > 0) {
    phases.push(phase);
    phase = freedBy(phase, next, left);
  }
  return phases;
}

function freedBy(phase: readonly Job[], next: ReadonlyMap<JobId, Job[]>, left: Map<JobId, number>): Job[] {
  return phase.flatMap(({ id }) =>
    (next.get(id) ?? []).filter((job) => {
      const count = (left.get(job.id) ?? 0) - 1;
      left.set(job.id, count);
      return count === 0;
    }),
  );
}
