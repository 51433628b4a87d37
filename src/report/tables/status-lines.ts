// `sshoal status`: for each batch how many jobs are in each state, which client follows it, and its running and failed
// jobs.

import type { JobWord } from "../../model/batch-state.js";
import type { BatchStatus, JobStatus } from "../../model/batch-status.js";
import { describeOutcome } from "../../model/job.js";
import { escapeC1 } from "../lines/json-lines.js";
import { missingText } from "../lines/missing-text.js";
import { formatDuration, formatRoughDuration } from "../text/amounts.js";
import { printable } from "../text/printable.js";
import { fitWidth, fitWidthKeepingEnd, padWidth, textWidth } from "../text/width.js";
import { wrap } from "../text/wrap.js";

const VERSION = 2;
const LISTED = 20;
const INDENT = "  ";
const GAP = "  ";
const WIDEST_NAME = 40;
const WIDEST_PLACE = 30;

/** Lines of at most `columns`, without their newlines. `rowColumns`: the limit for lines that are cut, not wrapped. */
export function statusLines(status: BatchStatus, columns = 80, rowColumns = columns): string[] {
  const running = status.jobs.filter(({ state }) => state === "running");
  const stuck = status.jobs.filter(({ reason }) => reason !== undefined);
  const incomplete = status.jobs.filter(({ missing }) => missing !== undefined);
  return [
    ...headLines(status, columns),
    ...status.unreached.flatMap((each) => indented(unreachedText(each), columns)),
    ...listed("running:", running, rowColumns),
    ...BAD.flatMap((word) => {
      const bad = status.jobs.filter(({ state }) => state === word);
      return listed(`${word}:`, bad, rowColumns);
    }),
    ...listed("not collected:", stuck, rowColumns, ({ reason = "" }) => reason),
    ...listed("incomplete:", incomplete, rowColumns, ({ missing = [] }) => missingText(missing)),
  ];
}

export function unreachedText({ machine, reason }: BatchStatus["unreached"][number]): string {
  return `${machine} cannot be asked, its jobs are shown as last known: ${reason}`;
}

/** One line, or two if progress, times and follower do not fit one. */
function headLines(status: BatchStatus, columns: number): string[] {
  const progress = printable(`${status.batch}: ${countsText(status.jobs)}`);
  const parts = [timesText(status), printable(followerText(status))].filter((part) => part !== "");
  const headWith = (count: number) => [progress, ...parts.slice(0, count)].join("; ");
  const fitting = [2, 1].find((count) => textWidth(headWith(count)) <= columns) ?? 0;
  return [
    fitWidthKeepingEnd(headWith(fitting), columns),
    ...indented(parts.slice(fitting).join("; "), columns),
  ];
}

function indented(text: string, columns: number): string[] {
  return wrap(text, columns - textWidth(INDENT)).map((line) => INDENT + line);
}

const BAD = ["failed", "stopped", "lost"] as const;

/** "12 succeeded, 1 failed, 2 of them to collect, 4 running, 30 waiting". */
function countsText(jobs: readonly JobStatus[]): string {
  const counted = (word: JobWord) => jobs.filter(({ state }) => state === word).length;
  const parts: [number, string][] = [
    ...ENDINGS.map((word): [number, string] => [counted(word), word]),
    [jobs.filter(isToCollect).length, "of them to collect"],
    [jobs.filter(({ missing }) => missing !== undefined).length, "of them incomplete"],
    [counted("running"), "running"],
    [counted("waiting"), "waiting"],
  ];
  return parts
    .filter(([amount], index) => index === 0 || amount > 0)
    .map(([amount, what]) => `${amount} ${what}`)
    .join(", ");
}

/** "12m04s so far, ~13m left", or "took 25m10s". */
function timesText({ isAtWork, elapsedMs, timeLeftMs }: BatchStatus): string {
  if (!isAtWork) return `took ${formatDuration(elapsedMs)}`;
  const left = timeLeftMs === null ? "" : `, ~${formatRoughDuration(timeLeftMs)} left`;
  return `${formatDuration(elapsedMs)} so far${left}`;
}

const ENDINGS = ["succeeded", "failed", "stopped", "lost", "skipped"] as const;

function isToCollect({ outcome, isHere }: JobStatus): boolean {
  return outcome !== null && !isHere;
}

function followerText({ jobs, follower, command }: BatchStatus): string {
  if (follower !== null) return `followed by ${follower}`;
  const isLeft = jobs.some((job) => (!job.isHere && !isUnbegun(job)) || job.missing !== undefined);
  if (isLeft) return `no client follows it: ${command} resumes it`;
  const isAnyStopped = jobs.some(({ state }) => state === "stopped");
  return isAnyStopped ? "the same command, or sshoal retry --state stopped, runs stopped jobs again" : "";
}

/** Stopped before it began, so nothing will be collected. */
function isUnbegun({ state, outcome }: JobStatus): boolean {
  return state === "stopped" && outcome === null;
}

function listed(
  heading: string,
  jobs: readonly JobStatus[],
  columns: number,
  ending: (job: JobStatus) => string = ({ outcome }) => (outcome === null ? "" : describeOutcome(outcome)),
): string[] {
  if (jobs.length === 0) return [];
  const shown = jobs.slice(0, LISTED);
  const names = column(shown.map(({ name }) => fitWidthKeepingEnd(printable(name), WIDEST_NAME)));
  const places = column(shown.map((job) => fitWidthKeepingEnd(printable(placeOf(job)), WIDEST_PLACE)));
  const times = timeColumn(shown);
  const rows = shown.map((job, index) =>
    [names[index], places[index], ...(times[index] ?? []), printable(ending(job))].join(GAP).trimEnd(),
  );
  const more = jobs.length > LISTED ? [`… and ${jobs.length - LISTED} more`] : [];
  return [heading, ...[...rows, ...more].map((row) => INDENT + row)].map((line) =>
    fitWidth(INDENT + line, columns),
  );
}

function placeOf({ machine, slot }: JobStatus): string {
  if (machine === null) return "";
  return slot === null ? machine : `${machine} slot ${slot}`;
}

/** One cell per job; none if no time is known. */
function timeColumn(jobs: readonly JobStatus[]): readonly [string][] {
  const times = jobs.map(({ elapsedMs }) => (elapsedMs === null ? "" : formatDuration(elapsedMs)));
  const width = Math.max(...times.map(textWidth));
  return width === 0 ? [] : times.map((time) => [time.padStart(width)]);
}

function column(cells: readonly string[]): string[] {
  const width = Math.max(...cells.map(textWidth));
  return cells.map((cell) => padWidth(cell, width));
}

/** One object per job, in the format that docs/json-events.md promises to keep. */
export function statusJson({ batch, jobs }: BatchStatus): string[] {
  return jobs.map(({ isHere, ...status }) =>
    escapeC1(JSON.stringify({ v: VERSION, batch, ...status, collected: isHere })),
  );
}
