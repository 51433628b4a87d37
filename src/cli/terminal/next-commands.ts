// What to type after a batch has ended: each command works as it is printed.

import type { Closing } from "../../report/reporter.js";
import { jobLabel } from "../../report/text/job-label.js";
import { quoteIfNeeded } from "../../transport/quote.js";

/** `isOnly`: no other batch was run in this directory, so that a number is enough to name a job. */
export function nextCommands({ failed, isUnfinished, some }: Closing, isOnly: boolean): string[] {
  const [first] = failed;
  const stem = some === null ? "" : some.name.slice(0, -jobLabel(some).length - 1);
  const batch = isOnly ? "" : ` ${quoteIfNeeded(stem)}`;
  const commands: string[] = [];
  if (first !== undefined) {
    const label = jobLabel(first);
    commands.push(`sshoal logs ${isOnly && /^\d+$/.test(label) ? label : quoteIfNeeded(first.name)}`);
    commands.push("sshoal retry --failed");
  }
  if (isUnfinished) commands.push(`sshoal attach${batch}`);
  return [...commands, `sshoal results${batch}`];
}
