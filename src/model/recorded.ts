// Which events a record keeps. Every kind of event must be listed here.

import type { RunEvent } from "./event.js";

/**
 * "replayed": the next client folds it into its state. "kept": the record has it, and other code reads it. "passing":
 * not recorded, because it is only for display or can be requested again.
 */
const USES: Readonly<Record<RunEvent["kind"], "replayed" | "kept" | "passing">> = {
  "run-started": "kept",
  "results-moved": "kept",
  "run-resumed": "passing",
  "run-ended": "kept",
  "jobs-added": "kept",
  "job-refused": "passing",
  "jobs-complete": "kept",
  "job-skipped": "passing",
  "job-blocked": "passing",
  "jobs-left-out": "replayed",
  "job-reopened": "replayed",
  "job-replaced": "replayed",
  "machine-ready": "kept",
  "machine-serves": "kept",
  "machine-lost": "passing",
  "machine-back": "passing",
  "machine-quiet": "passing",
  "machine-failed": "passing",
  "machine-refused": "kept",
  "machine-set-aside": "replayed",
  "machine-draining": "passing",
  "machine-opened": "passing",
  "machine-done": "replayed",
  "tree-read": "passing",
  staging: "passing",
  staged: "passing",
  "jobs-assigned": "replayed",
  "jobs-handed-over": "replayed",
  "jobs-taken-back": "replayed",
  "jobs-reassigned": "replayed",
  "jobs-retried": "replayed",
  "job-grown": "replayed",
  "jobs-gone": "passing",
  "slot-waiting": "passing",
  "job-started": "replayed",
  "job-resumes": "passing",
  "job-said": "passing",
  "job-output": "passing",
  "output-restarted": "kept",
  "job-ended": "replayed",
  collecting: "passing",
  "jobs-arrived": "kept",
  "job-collected": "replayed",
  "rest-collected": "replayed",
  "dirs-kept": "replayed",
  "old-results-removed": "passing",
  "job-stuck": "replayed",
  warning: "passing",
  "jobs-stopping": "replayed",
  "jobs-resumed": "replayed",
  interrupted: "kept",
  halted: "kept",
  "same-crash": "kept",
  paused: "passing",
  continued: "kept",
};

/** Also false for kinds that this version does not know. */
export function isRecorded({ kind }: RunEvent): boolean {
  return USES[kind] === "replayed" || USES[kind] === "kept";
}

/** What is only for those who watch stays out: the record is read whole by every later client. */
export function recordedPart(event: RunEvent): RunEvent {
  if (event.kind !== "job-ended") return event;
  const { stderrTail: _, ...recorded } = event;
  return recorded;
}

/** The rest of a record was about its client and that client's links. */
export function isReplayed({ kind }: RunEvent): boolean {
  return USES[kind] === "replayed";
}
