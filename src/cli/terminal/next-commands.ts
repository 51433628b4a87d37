// The commands to type after a batch has ended: each works as it is printed.

import { jobLabel } from "../../model/job-label.js";
import type { Closing } from "../../report/reporter.js";
import { quoteIfNeeded } from "../../transport/quote.js";

/** `isOnly`: this directory has no other batch, so it need not be named. */
export function nextCommands({ failed, hasStopped, isUnfinished, some }: Closing, isOnly: boolean): string[] {
  const stem = some === null ? "" : some.name.slice(0, -jobLabel(some).length - 1);
  const batch = isOnly ? "" : ` ${quoteIfNeeded(stem)}`;
  const [first] = failed;
  const commands: string[] = [];
  if (first !== undefined) {
    commands.push(`sshoal logs${batch} ${quoteIfNeeded(jobLabel(first))}`);
    commands.push(`sshoal retry${batch} --failed`);
  }
  if (hasStopped) commands.push(`sshoal retry${batch} --state stopped`);
  if (isUnfinished) commands.push(`sshoal attach${batch}`);
  return [...commands, `sshoal results${batch}`];
}
