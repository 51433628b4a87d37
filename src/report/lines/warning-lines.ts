// The warnings that events are for people.

import type { BatchState } from "../../model/batch-state.js";
import type { RunEvent } from "../../model/event.js";
import type { JobId } from "../../model/job.js";
import { grownWords } from "../text/grown-words.js";
import { printable } from "../text/printable.js";
import { sameCrashLines, setAsideLines } from "./crash-lines.js";
import { leftOutWarnings } from "./left-out-lines.js";
import { missingText } from "./missing-text.js";
import { count, listNames, NO_BASH } from "./wording.js";

/** The warnings for an event; for most events none. */
export function warningLines(event: RunEvent, state: BatchState): string[] {
  const { jobs } = state;
  const nameOf = (id: JobId) => printable(jobs.get(id)?.job.name ?? `job ${id}`);
  switch (event.kind) {
    case "warning":
      return [`WARNING: ${printable(event.message)}`];
    case "machine-ready":
      return event.capacity.shell === "sh" ? [`WARNING: ${printable(event.machine)} has ${NO_BASH}`] : [];
    case "machine-failed":
      return aboutMachine(event, "is left out");
    case "machine-refused":
      return aboutMachine(event, "gets no jobs");
    case "jobs-reassigned":
      return [
        `WARNING: ${printable(event.machine)} is still unreachable; moving its ${count(event.jobs.length, "waiting job")} to other machines`,
      ];
    case "jobs-gone":
      return [
        `WARNING: ${listNames(event.jobs.map(nameOf))} ${event.jobs.length === 1 ? "is" : "are"} no longer on ${printable(event.machine)}: the outcome is unknown`,
      ];
    case "machine-set-aside":
      return setAsideLines(event);
    case "jobs-left-out":
      return leftOutWarnings(event, { jobs });
    case "same-crash":
      return sameCrashLines(event, state);
    case "machine-draining":
      return [`WARNING: ${printable(event.machine)} is being drained: it gets no more jobs`];
    case "jobs-retried":
      return retriedLines(event, nameOf);
    case "job-grown":
      return [`WARNING: ${nameOf(event.job)} on ${printable(event.machine)}: ${grownWords(event)}`];
    case "job-stuck":
      return [
        `WARNING: the results of ${nameOf(event.job)} stay on ${printable(event.machine)}: ${printable(event.reason)}`,
      ];
    case "job-collected":
    case "rest-collected":
      if (event.missing === undefined || event.missing.length === 0) return [];
      return [
        `WARNING: some results of ${nameOf(event.job)} could not be collected and stay on ${printable(event.machine)}: ${missingText(event.missing)}`,
      ];
    case "run-started":
    case "results-moved":
    case "jobs-added":
    case "job-refused":
    case "machine-serves":
    case "jobs-complete":
    case "run-resumed":
    case "job-skipped":
    case "job-blocked":
    case "job-reopened":
    case "job-replaced":
    case "machine-lost":
    case "machine-back":
    case "machine-quiet":
    case "machine-opened":
    case "machine-done":
    case "tree-read":
    case "staging":
    case "staged":
    case "jobs-assigned":
    case "jobs-stopping":
    case "jobs-resumed":
    case "jobs-handed-over":
    case "jobs-taken-back":
    case "slot-waiting":
    case "job-started":
    case "job-resumes":
    case "job-said":
    case "job-output":
    case "output-restarted":
    case "job-ended":
    case "collecting":
    case "jobs-arrived":
    case "dirs-kept":
    case "old-results-removed":
    case "interrupted":
    case "halted":
    case "paused":
    case "continued":
    case "run-ended":
      return [];
    default:
      return event satisfies never;
  }
}

/** Jobs that ran out of memory have a line of their own already. */
function retriedLines(
  { jobs, machine, grown = [] }: Extract<RunEvent, { kind: "jobs-retried" }>,
  nameOf: (id: JobId) => string,
): string[] {
  const names = jobs.filter((id) => !grown.includes(id)).map(nameOf);
  return names.length === 0
    ? []
    : [`WARNING: retrying: ${listNames(names)}, last tried on ${printable(machine)}`];
}

interface MachineTrouble {
  readonly machine: string;
  readonly reason: string;
  readonly hint: string | null;
}

function aboutMachine({ machine, reason, hint }: MachineTrouble, what: string): string[] {
  const first = `WARNING: ${printable(machine)} ${what}: ${printable(reason)}`;
  return hint === null ? [first] : [first, printable(hint)];
}
