// The lines for each event in pipes and log files, except warnings.

import { dependencyFact } from "../../model/dependency.js";
import type { RunEvent } from "../../model/event.js";
import { describeOutcome, type Job, type JobId, shortCommand, succeeded } from "../../model/job.js";
import { labelsIn } from "../../model/job-label.js";
import { endingOf, outcomeAtHome } from "../../model/standing.js";
import type { ViewState } from "../live/view-state.js";
import type { Sources } from "../reporter.js";
import { formatBytes } from "../text/amounts.js";
import { dependencyWords } from "../text/dependency-words.js";
import { printable } from "../text/printable.js";
import { waitingWords } from "../text/waiting-words.js";
import { teeLines } from "./tee-lines.js";
import {
  CONTINUED,
  count,
  editLines,
  haltedLine,
  keptLines,
  oldRemovedLine,
  pausedLine,
  resumedLine,
  resumesLine,
  STOPPING,
  stoppingLine,
  treeLine,
} from "./wording.js";

/** `verbose` goes to stderr, only with --verbose. */
export interface Told {
  readonly stdout?: readonly string[];
  readonly stderr?: readonly string[];
  readonly verbose?: readonly string[];
}

export function plainLines(view: ViewState, event: RunEvent, devicesOf: Sources["devicesOf"]): Told {
  const nameOf = (id: JobId) => printable(view.state.jobs.get(id)?.job.name ?? "");
  switch (event.kind) {
    case "job-output":
      return { [STREAMS[event.stream]]: outputLines(view, event) };
    case "job-skipped":
      return event.isUnasked ? {} : { stdout: [skippedLine(view, event)] };
    case "job-blocked":
      return { stdout: blockedLines(view, event.job) };
    case "run-resumed":
      return { stdout: [resumedLine(event)] };
    case "job-started": {
      const tracked = view.state.jobs.get(event.job);
      if (tracked === undefined) return {};
      return { stdout: [`started: ${startedLine(tracked.job, devicesOf(event))}`] };
    }
    case "job-collected":
      return { stdout: endingLines(view, event.job) };
    case "job-ended":
      return event.outcome.kind === "lost"
        ? { stderr: [lostLine(nameOf(event.job), event.machine, event.outcome.reason)] }
        : {};
    case "rest-collected":
      return event.files === 0
        ? {}
        : { stderr: [`more results of ${nameOf(event.job)} arrived: ${count(event.files, "file")}`] };
    case "job-resumes":
      return { stderr: [resumesLine(event, view.state)] };
    case "dirs-kept":
      return { stderr: keptLines(event, view.state) };
    case "old-results-removed":
      return { stderr: [oldRemovedLine(event)] };
    case "tree-read":
      return { stderr: [treeLine(event)] };
    case "machine-lost":
      return {
        stderr: [`WARNING: the link to ${printable(event.machine)} is lost: ${printable(event.reason)}`],
      };
    case "machine-back":
      return { stderr: [`the link to ${printable(event.machine)} is back`] };
    case "interrupted":
      return { stderr: [STOPPING[event.mode]] };
    case "jobs-stopping":
      return { stderr: [stoppingLine(event.jobs.map(nameOf))] };
    case "halted":
      return { stderr: [haltedLine(event)] };
    case "paused":
      return { stderr: [pausedLine(event)] };
    case "continued":
      return { stderr: [CONTINUED] };
    case "staged":
      return { verbose: [stagedLine(view, event.machine)] };
    case "slot-waiting": {
      const words = waitingWords(event.reason, { batch: view.batch, labelOf: labelsIn(view.state.jobs) });
      return { verbose: [`waiting: ${printable(event.machine)} slot ${event.slot}; ${words}`] };
    }
    case "jobs-handed-over":
      return { verbose: [`handed over: ${printable(event.machine)}; ${count(event.jobs.length, "job")}`] };
    case "jobs-taken-back":
      return { verbose: [`taken back: ${printable(event.machine)}; ${count(event.jobs.length, "job")}`] };
    case "run-started":
      return { stderr: editLines(event) };
    case "results-moved":
    case "jobs-added":
    case "job-refused":
    case "machine-serves":
    case "jobs-left-out":
    case "jobs-complete":
    case "job-reopened":
    case "job-replaced":
    case "machine-ready":
    case "machine-quiet":
    case "machine-failed":
    case "machine-refused":
    case "machine-set-aside":
    case "same-crash":
    case "machine-draining":
    case "machine-opened":
    case "machine-done":
    case "staging":
    case "jobs-assigned":
    case "jobs-reassigned":
    case "jobs-retried":
    case "job-grown":
    case "jobs-resumed":
    case "jobs-gone":
    case "job-said":
    case "output-restarted":
    case "collecting":
    case "jobs-arrived":
    case "job-stuck":
    case "warning":
    case "run-ended":
      return {};
    default:
      return event satisfies never;
  }
}

const STREAMS = { out: "stdout", err: "stderr" } as const;

function outputLines(view: ViewState, event: Extract<RunEvent, { kind: "job-output" }>): string[] {
  return teeLines(view.state.jobs.get(event.job)?.job.name ?? "", event.text);
}

/** The words that users of ml-scheduler know. For a failed job, also its outcome and what to type. */
function skippedLine(
  view: ViewState,
  { job: id, outcome }: Extract<RunEvent, { kind: "job-skipped" }>,
): string {
  const line = view.state.jobs.get(id)?.job.line ?? id;
  const familiar = `WARNING: job results already exists for line ${line}, skipping evaluation: delete if you wish to rerun`;
  if (outcome === null || succeeded(outcome)) return familiar;
  const word = outcome.kind === "lost" ? "was lost" : endingOf(outcome);
  return `${familiar}; it ${word} (${printable(describeOutcome(outcome))}): --retry-failed runs it again`;
}

/** `skipped: train.sh.train; after job 1 (prepare), which failed`. */
function blockedLines({ state }: ViewState, id: JobId): string[] {
  const tracked = state.jobs.get(id);
  const fact = tracked && dependencyFact(state, tracked);
  return tracked && fact ? [`skipped: ${printable(tracked.job.name)}; ${dependencyWords(fact)}`] : [];
}

/** `finished: name; command`; a job that did not succeed is shown with its state instead. */
function endingLines(view: ViewState, id: JobId): string[] {
  const tracked = view.state.jobs.get(id);
  const outcome = tracked && outcomeAtHome(tracked);
  if (!tracked || !outcome) return [];
  const word = endingOf(outcome);
  const { job } = tracked;
  return [
    `${word === "succeeded" ? "finished" : word}: ${printable(job.name)}; ${printable(shortCommand(job))}`,
  ];
}

function lostLine(name: string, machine: string, reason: string): string {
  return `WARNING: ${name} is lost on ${printable(machine)}: ${printable(reason)}`;
}

function stagedLine(view: ViewState, machine: string): string {
  const bytes = view.machines.get(machine)?.staging?.totalBytes ?? 0;
  return `staged: ${printable(machine)}; ${bytes === 0 ? "was there already" : formatBytes(bytes)}`;
}

/** `name;  export CUDA_VISIBLE_DEVICES=0 && command`. */
export function startedLine(job: Job, devices: Readonly<Record<string, string>>): string {
  return `${printable(job.name)};  ${exportsOf(devices)}${printable(shortCommand(job))}`;
}

/** Only the variables that choose cards: CUDA_VISIBLE_DEVICES or ROCR_VISIBLE_DEVICES. */
function exportsOf(devices: Readonly<Record<string, string>>): string {
  return Object.entries(devices)
    .filter(([name]) => name.endsWith("_VISIBLE_DEVICES"))
    .map(([name, value]) => `export ${name}=${printable(value)} && `)
    .join("");
}
