// Says why a job is skipped that comes after another one.

import type { Dependency, JobId, Turnout } from "./job.js";

const HOW: Readonly<Record<Turnout, string>> = {
  open: "has not ended",
  succeeded: "succeeded",
  failed: "failed",
  stopped: "was stopped",
  blocked: "was skipped",
  unneeded: "was skipped",
  unknown: "is lost",
};

const WANTED: Readonly<Record<Dependency["when"], string>> = {
  succeeded: "had to succeed",
  ended: "had to end",
  failed: "had to fail",
};

export function whySkipped(job: JobId, when: Dependency["when"], turnout: Turnout): string {
  return `job ${job} ${HOW[turnout]}, and ${WANTED[when]}`;
}
