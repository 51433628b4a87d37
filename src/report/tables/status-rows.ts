// The rows of `sshoal status`: one for each job that runs or did not succeed, and for the first of those that wait for the same
// reason.

import type { BatchStatus, JobStatus } from "../../model/batch-status.js";
import type { LabelOf } from "../../model/job-label.js";
import { SPOOL_FORMAT } from "../../model/machine.js";
import { leftOutReason } from "../lines/left-out-lines.js";
import { missingText } from "../lines/missing-text.js";
import { placeName } from "../live/place.js";
import { formatDuration } from "../text/amounts.js";
import { dependencyWords } from "../text/dependency-words.js";
import { outcomeWords, reasonWords } from "../text/outcome-words.js";
import { lastSaid, printable } from "../text/printable.js";
import type { Signs } from "../text/signs.js";
import { waitingWords } from "../text/waiting-words.js";
import { fitWidth, fitWidthKeepingEnd, padWidth, textWidth } from "../text/width.js";

const GAP = "  ";
/** Of each state. */
const LISTED = 20;
/** Of stopped jobs whose results are no problem: one says as much as all. */
const STOPPED_LISTED = 3;
const WIDEST_JOB = 24;
const WIDEST_PLACE = 30;
const HEAD: Row = { state: "STATE", job: "JOB", where: "WHERE", time: "TIME", what: "WHAT" };

export interface StatusLook {
  readonly signs: Signs;
  /** Lines are at most so long. */
  readonly columns: number;
  /** The same for the first line and for rows of jobs. In a pipe these are whole. */
  readonly rowColumns: number;
}

interface Row {
  readonly state: string;
  readonly job: string;
  readonly where: string;
  readonly time: string;
  readonly what: string;
}

/** Lines without their newlines; none where there is no such job. */
export function statusRows(status: BatchStatus, { signs, rowColumns }: StatusLook): string[] {
  const { ellipsis } = signs;
  const groups = WORTH_A_ROW.map((word) => {
    const jobs = status.jobs.filter((job) => job.state === word && isWorthIt(job));
    const listed = word === "stopped" ? stoppedListed(jobs) : jobs.slice(0, LISTED);
    return { word, listed, left: jobs.length - listed.length };
  });
  const waiting = waitingRows(status);
  const rows = [...groups.flatMap(({ listed }) => listed.map((job) => rowOf(status, job))), ...waiting.rows];
  const more = [
    ...groups.map(({ word, left }) => [left, `more ${word}`] as const),
    [waiting.others, waiting.others === 1 ? "more waits" : "more wait"] as const,
  ]
    .filter(([amount]) => amount > 0)
    .map(([amount, what]) => `${ellipsis} ${amount} ${what}`);
  if (rows.length === 0) return more;
  return [...alignedLines([HEAD, ...rows], ellipsis), ...more].map((line) =>
    fitWidth(line, rowColumns, ellipsis),
  );
}

const WORTH_A_ROW = ["failed", "lost", "stopped", "succeeded", "skipped", "running"] as const;

/** What succeeded has a row only if its results are a problem. */
function isWorthIt({ state, reason, missing, dependency }: JobStatus): boolean {
  if (state !== "succeeded" && state !== "skipped") return true;
  return reason !== undefined || missing !== undefined || dependency !== undefined;
}

function stoppedListed(jobs: readonly JobStatus[]): JobStatus[] {
  const isProblem = ({ reason, missing }: JobStatus) => reason !== undefined || missing !== undefined;
  const plain = jobs.filter((job) => !isProblem(job)).slice(0, STOPPED_LISTED);
  return [...jobs.filter(isProblem).slice(0, LISTED), ...plain];
}

function rowOf(status: BatchStatus, job: JobStatus): Row {
  return {
    state: job.state,
    job: labelOf(status, job),
    where: placeOf(status, job),
    time: job.elapsedMs === null ? "" : formatDuration(job.elapsedMs),
    what: whatOf(status, job),
  };
}

/** What its name has after the batch's. */
function labelOf({ stem }: BatchStatus, { name }: JobStatus): string {
  return printable(name.startsWith(`${stem}.`) ? name.slice(stem.length + 1) : name);
}

/** Machines call jobs by their ids. */
function labelsOf(status: BatchStatus): LabelOf {
  const labels = new Map(status.jobs.map((each) => [each.job, labelOf(status, each)]));
  return (id) => labels.get(id) ?? String(id);
}

function placeOf({ slots, spoolFormats }: BatchStatus, { machine, ...job }: JobStatus): string {
  if (machine === null) return "";
  const spoolFormat = spoolFormats.get(machine) ?? SPOOL_FORMAT;
  return placeName(machine, job, { slots: slots.get(machine) ?? [], spoolFormat });
}

/** How it ended and why, what keeps its results from coming, or the last line it printed. */
function whatOf({ lastWords }: BatchStatus, status: JobStatus): string {
  const { job, state, outcome, reason, missing, dependency } = status;
  const words = lastWords.get(job) ?? "";
  const parts: string[] = [];
  if (state === "running") parts.push(lastSaid(words));
  else if (state === "stopped" && outcome === null) parts.push("it had not begun");
  else if (outcome !== null && state !== "succeeded")
    parts.push(joined(outcomeWords(outcome, words), reasonWords(outcome, words)));
  if (dependency !== undefined) parts.push(dependencyWords(dependency));
  if (reason !== undefined) parts.push(`not collected: ${printable(reason)}`);
  if (missing !== undefined) parts.push(`incomplete: ${printable(missingText(missing))}`);
  return parts.filter((part) => part !== "").join("; ");
}

function joined(head: string, rest: string): string {
  return rest === "" ? head : `${head}: ${rest}`;
}

/** The first job of each reason; `others`: how many wait beside them. */
function waitingRows(status: BatchStatus): { readonly rows: Row[]; readonly others: number } {
  const waiting = status.jobs.filter(({ state }) => state === "waiting");
  const busy = new Map<string, number>();
  for (const { machine, state } of status.jobs)
    if (state === "running" && machine !== null) busy.set(machine, (busy.get(machine) ?? 0) + 1);
  const labels = labelsOf(status);
  const firsts = new Map<string, JobStatus>();
  for (const job of waiting) {
    const reason = waitingReason(status, job, { busy: busy.get(job.machine ?? "") ?? 0, labelOf: labels });
    if (!firsts.has(reason)) firsts.set(reason, job);
  }
  const time = formatDuration(status.elapsedMs);
  const rows = [...firsts]
    .slice(0, LISTED)
    .map(([what, job]) => ({ state: "waiting", job: labelOf(status, job), where: "", time, what }));
  return { rows, others: waiting.length - rows.length };
}

function waitingReason(
  status: BatchStatus,
  { job, machine, dependency, leftOut }: JobStatus,
  { busy, labelOf }: { readonly busy: number; readonly labelOf: LabelOf },
): string {
  if (leftOut !== undefined) return `no machine can ever run it: ${printable(leftOutReason(leftOut))}`;
  if (dependency !== undefined) return dependencyWords(dependency);
  if (status.pausedPid !== undefined) return "the batch is paused";
  if (machine === null)
    return status.follower === null ? "no client follows the batch" : "no machine has it yet";
  const slots = status.slots.get(machine) ?? [];
  const shortage = status.shortages.get(job);
  if (shortage !== undefined)
    return `${printable(machine)}: ${waitingWords(shortage, { slots, batch: status.batch, labelOf })}`;
  return busy === 0
    ? `waits on ${printable(machine)}`
    : `${printable(machine)}: ${busy} of ${slots.length} busy`;
}

function alignedLines(rows: readonly Row[], ellipsis: string): string[] {
  const short = rows.map((row) => ({
    ...row,
    job: fitWidthKeepingEnd(row.job, WIDEST_JOB, ellipsis),
    where: fitWidthKeepingEnd(row.where, WIDEST_PLACE, ellipsis),
  }));
  const widthOf = (key: keyof Row) => Math.max(...short.map((row) => textWidth(row[key])));
  const widths = {
    state: widthOf("state"),
    job: widthOf("job"),
    where: widthOf("where"),
    time: widthOf("time"),
  };
  return short.map(({ state, job, where, time, what }) =>
    [
      padWidth(state, widths.state),
      " ".repeat(widths.job - textWidth(job)) + job,
      padWidth(where, widths.where),
      time.padStart(widths.time),
      what,
    ]
      .join(GAP)
      .replaceAll("\t", " ")
      .trimEnd(),
  );
}
