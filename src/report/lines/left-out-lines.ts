// Words for jobs that no machine can ever run.

import type { BatchState, TrackedJob } from "../../model/batch-state.js";
import type { RunEvent } from "../../model/event.js";
import type { JobId } from "../../model/job.js";
import type { MachineReason } from "../../model/left-out.js";
import { printable } from "../text/printable.js";

const LISTED = 5;

/** `WARNING: gpu1 has no room for lines 7, 9: memory: …; would fit: …`, one line per machine. */
export function leftOutWarnings(
  { jobs, reasons }: Extract<RunEvent, { kind: "jobs-left-out" }>,
  state: Pick<BatchState, "jobs">,
): string[] {
  const lines = linesOf(state, jobs);
  return reasons.map(
    ({ machine, reason }) => `WARNING: ${printable(machine)} has no room for ${lines}: ${printable(reason)}`,
  );
}

/** `gpu1: memory: …; would fit: …; gpu2: …` */
export function leftOutReason(reasons: readonly MachineReason[]): string {
  return reasons.map(({ machine, reason }) => `${machine}: ${reason}`).join("; ");
}

/** Jobs that the run leaves out and that have not begun in another way since. */
export function leftOutJobs({ jobs, leftOut }: Pick<BatchState, "jobs" | "leftOut">): TrackedJob[] {
  return [...leftOut.keys()].flatMap((id) => {
    const tracked = jobs.get(id);
    return tracked?.fate.kind === "dropped" ? [tracked] : [];
  });
}

/** "line 7", "lines 7, 9 and 3 more". */
function linesOf({ jobs }: Pick<BatchState, "jobs">, ids: readonly JobId[]): string {
  const lines = ids.map((id) => jobs.get(id)?.job.line ?? id);
  const [shown, more] = [lines.slice(0, LISTED).join(", "), lines.length - LISTED];
  return `${lines.length === 1 ? "line" : "lines"} ${shown}${more > 0 ? ` and ${more} more` : ""}`;
}
