// Finds jobs of a followed batch as the API asks for them: by ids, names, states and text, newest first. Pure.

import type { BatchState, TrackedJob } from "../../model/batch-state.js";
import { jobLabel } from "../../model/job-label.js";
import type { JobQuery } from "../../model/queue.js";
import { wordOf } from "../../model/standing.js";
import { parseJobTerms } from "../name/job-terms.js";

type Test = (tracked: TrackedJob) => boolean;

/** Throws UserError for an invalid glob. */
export function findJobs({ jobs }: Pick<BatchState, "jobs">, query: JobQuery): TrackedJob[] {
  const { ids, before, isOldestFirst = false, limit = Number.POSITIVE_INFINITY } = query;
  const tests = testsOf(query);
  const some = ids === undefined ? jobs.values() : [...new Set(ids)].flatMap((id) => jobs.get(id) ?? []);
  const found: TrackedJob[] = [];
  for (const tracked of inOrder([...some], isOldestFirst)) {
    if (found.length >= limit) break;
    const { id } = tracked.job;
    if (tracked.traits.isGone || (before !== undefined && (isOldestFirst ? id <= before : id >= before)))
      continue;
    if (tests.every((test) => test(tracked))) found.push(tracked);
  }
  return found;
}

/** Most batches have them in order already, which makes sorting cheap. */
function inOrder(jobs: TrackedJob[], isOldestFirst: boolean): TrackedJob[] {
  const sign = isOldestFirst ? 1 : -1;
  return jobs.sort((one, other) => sign * (one.job.id - other.job.id));
}

function testsOf({ names, states, text }: JobQuery): Test[] {
  const tests: Test[] = [];
  if (states !== undefined) {
    const words = new Set(states);
    tests.push((tracked) => words.has(wordOf(tracked)));
  }
  if (names !== undefined) {
    const known = names.map(nameTest);
    tests.push(({ job }) => known.some((test) => test(job.name) || test(jobLabel(job))));
  }
  if (text !== undefined) {
    const part = text.toLowerCase();
    tests.push(({ job: { name, command } }) => `${command}\n${name}`.toLowerCase().includes(part));
  }
  return tests;
}

function nameTest(word: string): (name: string) => boolean {
  const patterns = parseJobTerms([word]).flatMap((term) => (term.kind === "glob" ? [term.pattern] : []));
  return (name) => name === word || patterns.some((pattern) => pattern.test(name));
}
