// Tells of jobs that are skipped because of other jobs. Each client tells of them once, when it has looked at all jobs.

import { obstacleOf, turnoutOf } from "../model/dependency.js";
import type { News } from "../model/event.js";
import type { RunState } from "./run-state.js";

export function tellBlocked(state: RunState): News[] {
  const { untold } = state.dependencies;
  if (untold.size === 0) return [];
  return [...untold].flatMap((id): News[] => {
    const tracked = state.jobs.get(id);
    const obstacle = tracked === undefined ? null : obstacleOf(state, tracked);
    const turnout = obstacle === null ? "open" : turnoutOf(obstacle.tracked);
    if (obstacle === null || turnout === "open") return [];
    const about = { job: id, by: obstacle.tracked.job.id, when: obstacle.when, turnout };
    const isUnneeded = obstacle.verdict === "unneeded";
    return [{ kind: "job-blocked", ...about, ...(isUnneeded && { isUnneeded }) }];
  });
}
