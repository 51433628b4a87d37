// `sshoal status`: of each batch how far it is, how many jobs are in which state, who follows it, and a row for each job that
// runs or did not succeed.

import {
  type BatchStatus,
  batchWord,
  countLeftOut,
  countWords,
  isToCollect,
  type JobStatus,
} from "../../model/batch-status.js";
import { escapeC1, failureField } from "../lines/json-lines.js";
import { count } from "../lines/wording.js";
import { formatDuration, formatRoughDuration } from "../text/amounts.js";
import { lastSaid, printable } from "../text/printable.js";
import type { Signs } from "../text/signs.js";
import { textWidth } from "../text/width.js";
import { wrap } from "../text/wrap.js";
import { type StatusLook, statusRows } from "./status-rows.js";

const VERSION = 2;
const GAP = "  ";
const INDENT = "  ";

/** Without their newlines. */
export function statusLines(status: BatchStatus, look: StatusLook): string[] {
  const { signs, columns, rowColumns } = look;
  const notes = [followerText(status), ...status.unreached.map(unreachedText)].filter((note) => note !== "");
  return [
    ...headLines(status, rowColumns),
    ...wrapped(countsText(status.jobs, signs), columns),
    ...notes.flatMap((note) => wrapped(note, columns)),
    ...statusRows(status, look),
  ];
}

/** "2 results are not collected yet: sshoal attach jobs.sh". Empty: none is left, or a client is about to collect it. */
export function toCollectText({
  jobs,
  follower,
  command,
}: Pick<BatchStatus, "jobs" | "follower" | "command">): string {
  const amount = jobs.filter(isToCollect).length;
  if (amount === 0 || follower !== null) return "";
  return `${count(amount, "result")} ${amount === 1 ? "is" : "are"} not collected yet: ${command}`;
}

export function unreachedText({ machine, reason }: BatchStatus["unreached"][number]): string {
  return `${machine} cannot be asked, its jobs are shown as last known: ${reason}`;
}

/** `sweep.sh  running  12m04s, ~13m left  in ~/vit  (sweep.sh-4f1d2c9a)`. What does not fit goes to the next line. */
function headLines(status: BatchStatus, columns: number): string[] {
  const { stem, batch, directory, jobs, isAtWork } = status;
  const parts = [
    stem,
    batchWord(countWords(jobs), isAtWork, countLeftOut(jobs)),
    timesText(status),
    `in ${directory}`,
    `(${batch})`,
  ].map(printable);
  const lines: string[] = [];
  for (const part of parts) {
    const last = lines.at(-1);
    const longer = last === undefined ? part : `${last}${GAP}${part}`;
    if (last === undefined || textWidth(longer) <= columns) lines.splice(-1, 1, longer);
    else lines.push(INDENT + part);
  }
  return lines.flatMap((line) => (textWidth(line) <= columns ? [line] : wrapped(line.trimStart(), columns)));
}

function wrapped(text: string, columns: number): string[] {
  const whole = printable(text);
  if (textWidth(whole) <= columns) return [whole];
  return wrap(whole, columns - textWidth(INDENT)).map((line, index) => (index === 0 ? line : INDENT + line));
}

/** `12m04s, ~13m left`, or `took 25m10s`. */
function timesText({ isAtWork, elapsedMs, timeLeftMs }: BatchStatus): string {
  if (!isAtWork) return `took ${formatDuration(elapsedMs)}`;
  const left = timeLeftMs === null ? "" : `, ~${formatRoughDuration(timeLeftMs)} left`;
  return formatDuration(elapsedMs) + left;
}

/** `12 succeeded · 1 failed · 2 of them to collect · 4 running · 30 waiting · 47 in all`. */
function countsText(jobs: readonly JobStatus[], { separator }: Signs): string {
  const { running, waiting, ...ended } = countWords(jobs);
  const leftOut = countLeftOut(jobs);
  const parts: [number, string][] = [
    ...Object.entries(ended).map(([word, amount]): [number, string] => [amount, word]),
    [jobs.filter(isToCollect).length, "of them to collect"],
    [jobs.filter(({ missing }) => missing !== undefined).length, "of them incomplete"],
    [running, "running"],
    [leftOut, "left out"],
    [waiting - leftOut, "waiting"],
    [jobs.length, "in all"],
  ];
  return parts
    .filter(([amount], index) => index === 0 || amount > 0)
    .map(([amount, what]) => `${amount} ${what}`)
    .join(separator);
}

function followerText({ jobs, follower, pausedPid, command }: BatchStatus): string {
  if (pausedPid !== undefined) return `followed by ${follower}, paused: kill -USR2 ${pausedPid} resumes`;
  if (follower !== null) return `followed by ${follower}`;
  const left = jobs.filter(isLeft);
  if (left.length > 0) {
    const isOver = left.every(({ outcome }) => outcome !== null);
    return `no client follows it: ${command} ${isOver ? "collects its results" : "resumes it"}`;
  }
  const isAnyStopped = jobs.some(({ state }) => state === "stopped");
  return isAnyStopped ? "the same command, or sshoal retry --state stopped, runs stopped jobs again" : "";
}

/** A client may still do something about it. */
function isLeft(job: JobStatus): boolean {
  return (!job.isHere && !isUnbegun(job) && job.leftOut === undefined) || job.missing !== undefined;
}

/** Stopped before it began, or skipped because of another job, so nothing will be collected. */
function isUnbegun({ state, outcome, isHere }: JobStatus): boolean {
  return (state === "stopped" || (state === "skipped" && !isHere)) && outcome === null;
}

/** One object per job, in the format that docs/json-events.md promises to keep. */
export function statusJson({
  batch,
  jobs,
  lastWords,
}: Pick<BatchStatus, "batch" | "jobs" | "lastWords">): string[] {
  return jobs.map(({ isHere, ...status }) => {
    const lastLine = lastSaid(lastWords.get(status.job) ?? "");
    const said = lastLine !== "" && { lastLine };
    const rest = { ...failureField(status.outcome), collected: isHere, ...said };
    return escapeC1(JSON.stringify({ v: VERSION, kind: "job-status", batch, ...status, ...rest }));
  });
}
