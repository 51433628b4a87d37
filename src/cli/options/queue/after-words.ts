// The jobs that --after names: `3`, `3,5-7`, `prepare`, `train/3`.

import { UserError } from "../../../errors.js";
import { splitJobWords } from "../../../input/batch/job-dependencies.js";
import type { DependencyAsk } from "../../../model/queue.js";

interface RawAfter {
  readonly after?: readonly string[];
  readonly afterAny?: readonly string[];
  readonly afterFail?: readonly string[];
}

const MOST_IN_RANGE = 10_000;

/** Throws UserError for a job of another queue. */
export function afterAsks(
  { after = [], afterAny = [], afterFail = [] }: RawAfter,
  queue: string,
): DependencyAsk[] {
  const asks = (when: DependencyAsk["when"], flag: string, texts: readonly string[]): DependencyAsk[] =>
    splitJobWords(texts).flatMap((word) =>
      jobsOf(withoutQueue(word, flag, queue), flag).map((job) => ({ when, job })),
    );
  return [
    ...asks("succeeded", "--after", after),
    ...asks("ended", "--after-any", afterAny),
    ...asks("failed", "--after-fail", afterFail),
  ];
}

function withoutQueue(word: string, flag: string, queue: string): string {
  const slash = word.indexOf("/");
  if (slash === -1) return word;
  if (word.slice(0, slash) === queue) return word.slice(slash + 1);
  throw new UserError(`${flag} ${word}: a job can wait only for jobs of its own queue, ${queue}`, {
    hint: "sshoal wait for the other job, then enqueue this one",
  });
}

function jobsOf(word: string, flag: string): (number | string)[] {
  const [, first, last = first] = /^(\d{1,10})(?:-(\d{1,10}))?$/.exec(word) ?? [];
  if (first === undefined) {
    if (word !== "") return [word];
    throw new UserError(`${flag}: a job is missing`, { hint: `for example ${flag} 3,5` });
  }
  const count = Number(last) - Number(first) + 1;
  if (count < 1 || count > MOST_IN_RANGE)
    throw new UserError(`${flag} ${word} is not a range of 1 to ${MOST_IN_RANGE} jobs`, {
      hint: count < 1 ? `${flag} ${last}-${first}` : "wait for the last of them",
    });
  return Array.from({ length: count }, (_, index) => Number(first) + index);
}
