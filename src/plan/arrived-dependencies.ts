// Finds the jobs that an arriving job comes after. It can name only jobs that arrived before it.

import { type AskedDependency, turnoutAt, verdictOf } from "../model/dependency.js";
import { type Dependency, describeOutcome, type JobId, type Outcome } from "../model/job.js";

export interface ArrivedJobs {
  /** By name or number, as typed. */
  readonly idOf: (word: string) => JobId | undefined;
  /** Of this run. */
  readonly isHere: (id: JobId) => boolean;
  /** How a job of an earlier run ended. */
  readonly outcomeOf: (id: JobId) => Outcome | undefined;
}

/** A text says why the job is refused. A dependency that an earlier run has met is left out. */
export function arrivedDependencies(
  asked: readonly AskedDependency[],
  arrived: ArrivedJobs,
): readonly Dependency[] | string {
  const found: Dependency[] = [];
  for (const { when, words, where } of asked) {
    for (const word of words) {
      const id = arrived.idOf(word);
      const outcome = id === undefined ? undefined : arrived.outcomeOf(id);
      if (id !== undefined && arrived.isHere(id)) found.push({ job: id, when });
      else if (outcome === undefined) return `${where}: no job ${word} has arrived before`;
      else if (verdictOf(when, turnoutAt(outcome)) !== "met")
        return `${where}: the job ${word} has ended already: ${describeOutcome(outcome)}`;
    }
  }
  return found;
}
