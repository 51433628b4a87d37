// For pipes and log files: the lines that people grep for and the summary on stdout, everything else on stderr.

import { outcomeAtHome } from "../../model/batch-state.js";
import type { RunEvent } from "../../model/event.js";
import { type Job, shortCommand, succeeded } from "../../model/job.js";
import type { Slot } from "../../model/machine.js";
import { applyToView, newView, type ViewState } from "../live/view-state.js";
import type { Reporter, TextSink } from "../reporter.js";
import { formatBytes } from "../text/amounts.js";
import { printable } from "../text/printable.js";
import { summaryLines } from "./summary.js";
import { teeLines } from "./tee-lines.js";
import {
  CONTINUED,
  count,
  haltedLine,
  pausedLine,
  resumedLine,
  STOPPING,
  transferText,
  treeLine,
  warningLines,
} from "./wording.js";

export interface PlainOptions {
  readonly stdout: TextSink;
  readonly stderr: TextSink;
  /** In the order in which their limits are listed. */
  readonly machines: readonly string[];
  /** The variables that show a job the cards of its slot. */
  readonly devicesOf: (machine: string, slot: number) => Readonly<Record<string, string>>;
  readonly isVerbose: boolean;
}

const TRANSFER_EVERY_MS = 5000;

export function createPlainReporter(options: PlainOptions): Reporter {
  const view = newView(options.machines);
  let isClosed = false;
  let hasLimits = false;
  const tellTransfers = transferTeller(view);
  return {
    show(event, known) {
      applyToView(view, event, known);
      if (!known.isNews) return;
      if (event.kind === "job-output") {
        const { stdout, stderr } = options;
        return write(event.stream === "out" ? stdout : stderr, outputLines(view, event));
      }
      write(options.stdout, resultLines(view, event, options));
      if (!hasLimits && isTimeForLimits(view, event)) {
        write(options.stdout, limitLines(view));
        hasLimits = true;
      }
      write(options.stderr, warningLines(event, known.state));
      write(options.stderr, noticeLines(view, event));
      if (options.isVerbose) write(options.stderr, [...verboseLines(view, event), ...tellTransfers(event)]);
    },
    suspend() {},
    resume() {},
    close() {
      if (!isClosed) write(options.stdout, summaryLines(view));
      isClosed = true;
    },
  };
}

function write(sink: TextSink, lines: readonly string[]): void {
  if (lines.length > 0) sink.write(`${lines.join("\n")}\n`);
}

/** Whoever has not answered when the first jobs go out comes too late for the list. */
function isTimeForLimits(view: ViewState, { kind }: RunEvent): boolean {
  if (kind === "machine-ready" || kind === "machine-failed") return hasEveryAnswer(view);
  return kind === "jobs-assigned";
}

function hasEveryAnswer(view: ViewState): boolean {
  return [...view.machines.values()].every(({ answer }) => answer !== null);
}

function outputLines(view: ViewState, event: Extract<RunEvent, { kind: "job-output" }>): string[] {
  return teeLines(view.state.jobs.get(event.job)?.job.name ?? "", event.text);
}

function resultLines(view: ViewState, event: RunEvent, options: PlainOptions): string[] {
  if (event.kind === "job-skipped") {
    const line = view.state.jobs.get(event.job)?.job.line ?? event.job;
    return [
      `WARNING: job results already exists for line ${line}, skipping evaluation: delete if you wish to rerun`,
    ];
  }
  if (event.kind === "run-resumed") return [resumedLine(event)];
  if (event.kind !== "job-started" && event.kind !== "job-collected") return [];
  const tracked = view.state.jobs.get(event.job);
  if (tracked === undefined) return [];
  const { job } = tracked;
  if (event.kind === "job-started") {
    return [`started: ${startedLine(job, options.devicesOf(event.machine, event.slot))}`];
  }
  const outcome = outcomeAtHome(tracked);
  if (!outcome) return [];
  const ending = succeeded(outcome) ? "finished" : "failed";
  return [`${ending}: ${printable(job.name)}; ${printable(shortCommand(job))}`];
}

/** `name;  export CUDA_VISIBLE_DEVICES=0 && command`. */
export function startedLine(job: Job, devices: Readonly<Record<string, string>>): string {
  return `${printable(job.name)};  ${exportsOf(devices)}${printable(shortCommand(job))}`;
}

/** Only what tells which cards: CUDA_VISIBLE_DEVICES or ROCR_VISIBLE_DEVICES. */
function exportsOf(devices: Readonly<Record<string, string>>): string {
  return Object.entries(devices)
    .filter(([name]) => name.endsWith("_VISIBLE_DEVICES"))
    .map(([name, value]) => `export ${name}=${printable(value)} && `)
    .join("");
}

function limitLines(view: ViewState): string[] {
  const ready = [...view.machines.values()].flatMap(({ name, answer }) =>
    answer?.kind === "ready" ? [{ name, slots: answer.slots }] : [],
  );
  const limits = ready.map(({ name, slots }) => `${pythonString(printable(name))}: ${slots.length}`);
  const choices = ready.map(({ slots }) => gpuChoices(slots));
  return [`machine limits:  {${limits.join(", ")}}`, `machine gpu choices: [${choices.join(", ")}]`];
}

function gpuChoices(slots: readonly Slot[]): string {
  const choices = slots
    .filter(({ gpus }) => gpus.length > 0)
    .map(({ gpus }) => gpus.map(({ index }) => index).join(", "));
  const isNested = slots.some(({ gpus }) => gpus.length > 1);
  return `[${choices.map((choice) => (isNested ? `[${choice}]` : choice)).join(", ")}]`;
}

function pythonString(text: string): string {
  return text.includes("'") && !text.includes('"') ? `"${text}"` : `'${text.replaceAll("'", "\\'")}'`;
}

function noticeLines(view: ViewState, event: RunEvent): string[] {
  switch (event.kind) {
    case "job-ended": {
      if (event.outcome.kind !== "lost") return [];
      const name = printable(view.state.jobs.get(event.job)?.job.name ?? "");
      const place = printable(event.machine);
      return [`WARNING: ${name} is lost on ${place}: ${printable(event.outcome.reason)}`];
    }
    case "rest-collected": {
      const name = printable(view.state.jobs.get(event.job)?.job.name ?? "");
      return event.files === 0 ? [] : [`more of ${name} has come: ${count(event.files, "file")}`];
    }
    case "tree-read":
      return [treeLine(event)];
    case "machine-lost":
      return [`WARNING: the link to ${printable(event.machine)} is lost: ${printable(event.reason)}`];
    case "machine-back":
      return [`the link to ${printable(event.machine)} is back`];
    case "interrupted":
      return [STOPPING[event.mode]];
    case "halted":
      return [haltedLine(event)];
    case "paused":
      return [pausedLine(event)];
    case "continued":
      return [CONTINUED];
    default:
      return [];
  }
}

function verboseLines(view: ViewState, event: RunEvent): string[] {
  switch (event.kind) {
    case "staged": {
      const bytes = view.machines.get(event.machine)?.staging?.totalBytes ?? 0;
      return [
        `staged: ${printable(event.machine)}; ${bytes === 0 ? "was there already" : formatBytes(bytes)}`,
      ];
    }
    case "slot-waiting":
      return [`waiting: ${printable(event.machine)} slot ${event.slot}; ${printable(event.reason)}`];
    case "jobs-handed-over":
      return [`handed over: ${printable(event.machine)}; ${count(event.jobs.length, "job")}`];
    case "jobs-taken-back":
      return [`taken back: ${printable(event.machine)}; ${count(event.jobs.length, "job")}`];
    default:
      return [];
  }
}

/** A line now and then for a machine whose copy, or whose results, take long. */
function transferTeller(view: ViewState): (event: RunEvent) => string[] {
  const toldAt = new Map<string, number>();
  return (event) => {
    if (event.kind !== "staging" && event.kind !== "collecting") return [];
    const transfer = view.machines.get(event.machine)?.[event.kind];
    if (!transfer || transfer.doneBytes >= transfer.totalBytes) return [];
    const since = Math.max(toldAt.get(event.machine) ?? 0, transfer.beganAt);
    if (event.at - since < TRANSFER_EVERY_MS) return [];
    toldAt.set(event.machine, event.at);
    return [`${event.kind}: ${printable(event.machine)}; ${transferText(transfer)}`];
  };
}
