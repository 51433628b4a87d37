// What is wrong with a request that names a queue.

import { ExitCode, UserError } from "../errors.js";
import { suggest } from "../input/suggest.js";
import { DEFAULT_QUEUE } from "../model/queue.js";

export function noSuchQueue(name: string, names: readonly string[]): UserError {
  const [nearest] = suggest(name, names);
  return new UserError(`there is no queue ${name}`, {
    hint:
      nearest === undefined
        ? `sshoal queue list, or sshoal queue create ${name}`
        : `did you mean ${nearest}?`,
    exitCode: ExitCode.BadInput,
  });
}

/** `open`: how many of its jobs are not over. Throws if the queue stays. */
export function checkDeletion(name: string, open: number, stops: boolean): void {
  if (name === DEFAULT_QUEUE)
    throw new UserError(`the queue ${DEFAULT_QUEUE} always exists`, {
      hint: `sshoal queue pause ${DEFAULT_QUEUE}`,
    });
  if (open > 0 && !stops)
    throw new UserError(
      `the queue ${name} has ${open === 1 ? "1 job that is" : `${open} jobs that are`} not over`,
      { hint: `sshoal queue delete ${name} --stop stops them` },
    );
}
