// The exit code for jobs that were waited for. Pure.

import { constants } from "node:os";
import { ExitCode } from "../../../errors.js";
import type { Outcome } from "../../../model/job.js";
import type { QueueJob } from "../../../model/queue.js";

/** Of a single job: its own code, as a shell would report it. `count`: how many were waited for. */
export function queuedExitCode(ended: readonly QueueJob[], count: number): number {
  const [job] = ended;
  if (job === undefined) return count === 0 ? ExitCode.Success : ExitCode.JobFailed;
  if (count === 1) return job.state === "succeeded" ? ExitCode.Success : codeOf(job.outcome);
  const isGood = ended.length === count && ended.every(({ state }) => state === "succeeded");
  return isGood ? ExitCode.Success : ExitCode.JobFailed;
}

function codeOf(outcome: Outcome | null): number {
  switch (outcome?.kind) {
    case "exited":
      return outcome.code || ExitCode.JobFailed;
    case "killed":
      return 128 + (constants.signals[outcome.signal as NodeJS.Signals] ?? 0);
    case "timed-out":
      return ExitCode.TimedOut;
    default:
      return ExitCode.JobFailed;
  }
}
