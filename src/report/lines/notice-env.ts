// What the command of --notify finds in its environment.

import { batchWord } from "../../model/batch-status.js";
import type { NoticeFacts } from "../../model/notice.js";
import { formatDuration } from "../text/amounts.js";
import { printable } from "../text/printable.js";

export function noticeEnv(facts: NoticeFacts): Record<string, string> {
  const { on, batch, stem, directory, counts, leftOut, elapsedMs, failedJobs } = facts;
  const { succeeded, failed, stopped, lost, skipped, running, waiting } = counts;
  const total = Object.values(counts).reduce((sum, amount) => sum + amount, 0);
  return {
    SSHOAL_EVENT: on,
    SSHOAL_BATCH: batch,
    SSHOAL_SCRIPT: stem,
    SSHOAL_DIRECTORY: directory,
    SSHOAL_STATE: batchWord(counts, on === "failure" && running + waiting - leftOut > 0, leftOut),
    SSHOAL_SUCCEEDED: String(succeeded + skipped),
    SSHOAL_FAILED: String(failed),
    SSHOAL_STOPPED: String(stopped),
    SSHOAL_LOST: String(lost),
    SSHOAL_UNFINISHED: String(running + waiting),
    SSHOAL_TOTAL: String(total),
    SSHOAL_ELAPSED: String(Math.round(elapsedMs / 1000)),
    SSHOAL_FAILED_JOBS: failedJobs.map(printable).join(" "),
    SSHOAL_SUMMARY: summaryOf(facts, total),
  };
}

/** `sweep.sh: 27 succeeded, 2 failed of 30 in 26m10s`, or `sweep.sh: sweep.sh.7 failed; 11 succeeded, 1 failed of 30 in 12m04s`. */
function summaryOf({ on, stem, counts, leftOut, elapsedMs, failedJobs }: NoticeFacts, total: number): string {
  const { skipped, waiting, ...others } = counts;
  const all = {
    "left out": leftOut,
    ...others,
    succeeded: counts.succeeded + skipped,
    waiting: waiting - leftOut,
  };
  const words = Object.entries(all)
    .filter(([word, amount]) => amount > 0 || word === "succeeded")
    .map(([word, amount]) => `${amount} ${word}`);
  const first = on === "failure" && failedJobs[0] !== undefined ? `${failedJobs[0]} failed; ` : "";
  return printable(`${stem}: ${first}${words.join(", ")} of ${total} in ${formatDuration(elapsedMs)}`);
}
