// For programs: one event per line, in the format that docs/json-events.md describes and promises to keep.

import type { BatchState } from "../../model/batch-state.js";
import { elapsedMs } from "../../model/batch-times.js";
import type { RunEvent } from "../../model/event.js";
import type { FailureClass } from "../../model/failure.js";
import { failureOf, type Outcome } from "../../model/job.js";
import { labelsIn } from "../../model/job-label.js";
import { attemptsOf } from "../../model/standing.js";
import type { Reporter, TextSink } from "../reporter.js";
import { waitingWords } from "../text/waiting-words.js";
import { capacityJson } from "./capacity-json.js";

const VERSION = 2;

/** A new kind is an addition to the format, and docs/json-events.md describes it. */
const IS_SHOWN: Readonly<Record<RunEvent["kind"], boolean>> = {
  "run-started": true,
  "results-moved": true,
  "jobs-added": true,
  "job-refused": true,
  "jobs-complete": true,
  "run-resumed": true,
  "job-skipped": true,
  "job-blocked": true,
  "job-reopened": true,
  "job-replaced": true,
  "machine-ready": true,
  "machine-serves": true,
  "jobs-left-out": true,
  "machine-lost": true,
  "machine-back": true,
  // A guess for people: "machine-lost" follows if it is true.
  "machine-quiet": false,
  "machine-failed": true,
  "machine-refused": true,
  "machine-set-aside": true,
  "machine-draining": true,
  "machine-opened": true,
  "machine-done": true,
  "tree-read": true,
  staging: true,
  staged: true,
  "jobs-assigned": true,
  "jobs-handed-over": true,
  "jobs-taken-back": true,
  "jobs-reassigned": true,
  "jobs-retried": true,
  "job-grown": true,
  "jobs-gone": true,
  "slot-waiting": true,
  "job-started": true,
  // Output of jobs can be secret and very long; it is in their .out and .err files.
  "job-said": false,
  "job-output": true,
  "output-restarted": true,
  "job-resumes": true,
  "job-ended": true,
  collecting: true,
  "jobs-arrived": true,
  "job-collected": true,
  "rest-collected": true,
  "dirs-kept": true,
  "old-results-removed": true,
  "job-stuck": true,
  warning: true,
  "jobs-stopping": true,
  "jobs-resumed": true,
  interrupted: true,
  halted: true,
  "same-crash": true,
  paused: true,
  continued: true,
  "run-ended": true,
};

export function createJsonReporter(stdout: TextSink): Reporter {
  let batch = "";
  return {
    show(event, { state }) {
      if (event.kind === "run-started") batch = event.batch;
      if (IS_SHOWN[event.kind]) stdout.write(`${formatEvent(event, state, batch)}\n`);
    },
    suspend() {},
    resume() {},
    close() {},
  };
}

/** `batch`: its name on machines. */
function formatEvent(event: RunEvent, state: BatchState, batch: string): string {
  const { kind, at, ...rest } = event;
  const tracked = "job" in event ? state.jobs.get(event.job) : undefined;
  const name = "job" in event ? { name: tracked?.job.name ?? null } : {};
  const attempt =
    "attempt" in event
      ? tracked && attemptsOf(tracked).find(({ number }) => number === event.attempt)
      : undefined;
  const run = attempt === undefined || attempt.run === null ? {} : { run: attempt.run };
  const failure = "outcome" in event ? failureField(event.outcome) : {};
  const life = kind === "run-ended" ? { elapsedMs: elapsedMs(state, at) } : {};
  const reason =
    kind === "slot-waiting"
      ? { reason: waitingWords(event.reason, { batch, labelOf: labelsIn(state.jobs) }) }
      : {};
  const measured = kind === "machine-ready" ? { capacity: capacityJson(event.capacity) } : {};
  return jsonLine({ kind, at, ...name, ...rest, ...measured, ...reason, ...failure, ...run, ...life });
}

/** The class of a failure; no field if the job did not fail. */
export function failureField(outcome: Outcome | null): { readonly failure?: FailureClass } {
  const failure = outcome === null ? null : failureOf(outcome);
  return failure === null ? {} : { failure };
}

/** One object as one line, without its newline. */
export function jsonLine<T extends { readonly kind: string }>(object: T): string {
  return escapeC1(JSON.stringify({ v: VERSION, ...object }));
}

/** JSON allows these raw, but a terminal obeys them, and some languages end a line at them. */
export function escapeC1(json: string): string {
  return json.replace(
    /[\x7f-\x9f\u2028\u2029]/g,
    (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}
