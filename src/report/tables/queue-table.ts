// The table of `sshoal show`: the jobs of one queue, with their places, times and reasons.

import { failureOf, shortCommand } from "../../model/job.js";
import { parseReason } from "../../model/parse-reason.js";
import { DEFAULT_QUEUE, type Queue, type QueueCounts, type QueueJob } from "../../model/queue.js";
import type { JobWord } from "../../model/standing.js";
import { escapeC1 } from "../lines/json-lines.js";
import { type Look, type Span, type Style, span } from "../live/styled-text.js";
import { formatAge, formatDuration } from "../text/amounts.js";
import { outcomeWords, reasonWords } from "../text/outcome-words.js";
import { printable } from "../text/printable.js";
import { waitingWords } from "../text/waiting-words.js";
import { fitWidth, fitWidthKeepingEnd, padWidth, textWidth } from "../text/width.js";

export type ShownQueue = Pick<Queue, "name" | "isPaused"> & { readonly counts: QueueCounts };

export interface QueueLook {
  readonly signs: Pick<Look, "ellipsis" | "separator">;
  /** Infinity: rows are whole. */
  readonly columns: number;
  readonly now: number;
}

/** Columns only grow, so that a live view does not jump. */
export interface QueueWidths {
  readonly id: number;
  readonly state: number;
  readonly prio: number;
  readonly where: number;
  readonly time: number;
  readonly job: number;
}

export const NARROWEST_QUEUE: QueueWidths = { id: 3, state: 7, prio: 4, where: 5, time: 5, job: 3 };

const GAP = "  ";
const WIDEST_PLACE = 24;
const WIDEST_JOB = 40;
/** A reason needs at least this. */
const LEAST_WHY = 20;
const STYLES: Readonly<Record<JobWord, Style>> = {
  succeeded: "good",
  failed: "bad",
  stopped: "dim",
  lost: "lost",
  skipped: "dim",
  running: "busy",
  waiting: "normal",
};

/** `default  2 running, 2 waiting`. */
export function queueHead({ name, isPaused, counts }: ShownQueue): string {
  const { held, ...states } = counts;
  const parts = COUNTED.filter((word) => states[word] > 0).map((word) => {
    // Those that a user holds back are among those that wait.
    const also = word === "waiting" && held > 0 ? ` (${held} held)` : "";
    return `${states[word]} ${word}${also}`;
  });
  const said = parts.length === 0 ? "empty" : parts.join(", ");
  return `${printable(name)}${GAP}${isPaused ? `paused${GAP}` : ""}${said}`;
}

const COUNTED = ["running", "waiting", "succeeded", "failed", "stopped", "lost", "skipped"] as const;

/** Lines as spans: the headings, then a row per job. None without jobs. */
export function queueRows(
  jobs: readonly QueueJob[],
  look: QueueLook,
  before = NARROWEST_QUEUE,
): { readonly lines: Span[][]; readonly widths: QueueWidths } {
  const cells = jobs.map((job) => cellsOf(job, look));
  const widths = widthsOf(cells, look, before);
  if (jobs.length === 0) return { lines: [], widths };
  const rows = cells.map((row, index) => lineOf(row, STYLES[jobs[index]?.state ?? "waiting"], widths, look));
  return { lines: [lineOf(HEAD, "normal", widths, look), ...rows], widths };
}

interface Cells {
  readonly id: string;
  readonly state: string;
  readonly prio: string;
  readonly where: string;
  readonly time: string;
  readonly job: string;
  readonly why: string;
}

const HEAD: Cells = {
  id: "ID",
  state: "STATE",
  prio: "PRIO",
  where: "WHERE",
  time: "TIME",
  job: "JOB",
  why: "WHY",
};

function cellsOf(job: QueueJob, { now, signs }: QueueLook): Cells {
  return {
    id: `${job.id}`,
    state: job.isHeld && job.state === "waiting" ? "held" : job.state,
    prio: job.priority === 0 ? "" : `${job.priority}`,
    where: fitWidthKeepingEnd(queuedPlace(job), WIDEST_PLACE, signs.ellipsis),
    time: (isOpen(job) ? formatAge : formatDuration)(timeOf(job, now)),
    job: fitWidth(queuedLabel(job), WIDEST_JOB, signs.ellipsis),
    why: whyOf(job),
  };
}

function isOpen({ state }: QueueJob): boolean {
  return state === "waiting" || state === "running";
}

/** How long it waits, runs or ran. */
function timeOf({ state, enqueuedAt, startedAt, durationMs }: QueueJob, now: number): number {
  if (state === "waiting") return now - enqueuedAt;
  if (durationMs !== null) return durationMs;
  return startedAt === null ? 0 : now - startedAt;
}

/** `gpu1:0,1`; empty if it has not begun. */
function queuedPlace({ machine, got }: Pick<QueueJob, "machine" | "got">): string {
  if (machine === null) return "";
  const { gpu = [] } = got;
  return printable(gpu.length === 0 ? machine : `${machine}:${gpu.join(",")}`);
}

/** Its name, or its parameters, or its command. */
export function queuedLabel({ name, command, terms }: Pick<QueueJob, "name" | "command" | "terms">): string {
  if (name !== null) return printable(name);
  const { parameters } = terms;
  if (parameters === undefined) return printable(shortCommand({ command }));
  return printable(Object.entries(parameters).flat().join(" "));
}

function whyOf({ state, outcome, reason, stderrTail, attempt }: QueueJob): string {
  if (state === "waiting") return obstacleWords(reason ?? "");
  if (state === "running") return attempt > 1 ? `attempt ${attempt}` : "";
  if (state === "succeeded") return "";
  const words = stderrTail ?? "";
  const how = outcome === null || state === "stopped" ? "" : outcomeWords(outcome, words);
  const why = reason ?? (outcome === null ? "" : reasonWords(outcome, words));
  return printable([how, why].filter((part) => part !== "").join(": "));
}

/** A machine and the words that it reports, `gpu1 res:gpu@train:1000:0`, or a sentence. */
export function obstacleWords(reason: string): string {
  const [, machine = "", words = ""] = /^(\S+) (.*)$/s.exec(reason) ?? [];
  if (parseReason(words).length === 0) return printable(reason);
  return `${printable(machine)}: ${waitingWords(words)}`;
}

function widthsOf(rows: readonly Cells[], { columns }: QueueLook, before: QueueWidths): QueueWidths {
  const widest = (key: keyof QueueWidths) => Math.max(before[key], ...rows.map((row) => textWidth(row[key])));
  const widths = {
    id: widest("id"),
    state: widest("state"),
    prio: widest("prio"),
    where: widest("where"),
    time: widest("time"),
    job: widest("job"),
  };
  const { id, state, prio, where, time } = widths;
  const others = id + state + prio + where + time + 6 * GAP.length;
  // The reason has its place first, but the job is never left out.
  const room = Math.max(NARROWEST_QUEUE.job + 5, columns - others - LEAST_WHY);
  return { ...widths, job: Math.max(before.job, Math.min(widths.job, room)) };
}

function lineOf(cells: Cells, style: Style, widths: QueueWidths, { columns, signs }: QueueLook): Span[] {
  const { id, state, prio, where, time, job, why } = cells;
  const before = `${id.padStart(widths.id)}${GAP}`;
  const after = [
    prio.padStart(widths.prio),
    padWidth(where, widths.where),
    time.padStart(widths.time),
    padWidth(fitWidth(job, widths.job, signs.ellipsis), widths.job),
    why,
  ].join(GAP);
  const room = columns - textWidth(before) - widths.state - GAP.length;
  const rest = fitWidth(after.trimEnd(), Math.max(0, room), signs.ellipsis);
  return [span(before), span(padWidth(state, widths.state), style), span(GAP + rest)];
}

/** `train/3 failed on gpu1:0 after 42s: exit 1: KeyError: 'x'`. */
export function queuedJobLine(job: QueueJob): string {
  const { queue, id, state, durationMs } = job;
  const place = queuedPlace(job);
  const where = place === "" ? "" : ` on ${place}`;
  const time = durationMs === null ? "" : ` after ${formatDuration(durationMs)}`;
  const why = whyOf(job);
  return `${printable(queue)}/${id} ${state}${where}${time}${why === "" ? "" : `: ${why}`}`;
}

/** In the format that docs/json-events.md promises to keep. */
export function queuedJobJson(job: QueueJob): string {
  const { id, outcome, ...about } = job;
  const failure = outcome === null ? null : failureOf(outcome);
  return escapeC1(
    JSON.stringify({ v: 2, kind: "queue-job", job: `${job.queue}/${id}`, id, ...about, outcome, failure }),
  );
}

/** One line per queue. The queue `default` comes first. */
export function queueList(queues: readonly ShownQueue[]): string[] {
  const sorted = queues.toSorted(
    (one, other) =>
      Number(other.name === DEFAULT_QUEUE) - Number(one.name === DEFAULT_QUEUE) ||
      one.name.localeCompare(other.name),
  );
  const width = Math.max(0, ...sorted.map(({ name }) => textWidth(name)));
  return sorted.map((queue) => {
    const [name = "", ...said] = queueHead(queue).split(GAP);
    return [padWidth(name, width), ...said].join(GAP);
  });
}
