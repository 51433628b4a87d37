// Compares what jobs wrote into the machines' own ledgers with what the client reports. Pure.

import type { JsonEvent } from "../rig/batch.js";
import { expectedResult, type TrialJob } from "./jobs.js";
import type { LedgerEntry } from "./ledger-entries.js";
import type { Signal } from "./plan.js";

/** What the rounds did to a machine, as far as it can change how jobs end. */
export interface Suffering {
  /** Signals sent to jobs. */
  readonly signals: Set<Signal>;
  /** A tool failed, or there were too few processes. */
  isBroken: boolean;
  isRebooted: boolean;
}

/** One object of `sshoal status --json`. */
export interface Status {
  readonly job: number;
  readonly state: string;
  readonly collected: boolean;
  readonly machine: string | null;
  /** The key of the attempt on its machine: `5000000000007-7-2`. */
  readonly key: string | null;
  readonly outcome: Outcome | null;
}

interface Outcome {
  readonly kind: string;
  readonly code?: number;
  readonly signal?: string;
}

export interface Result {
  readonly out: string;
  /** Path to text. */
  readonly files: Readonly<Record<string, string>>;
}

export interface Evidence {
  readonly jobs: readonly TrialJob[];
  /** Of all machines. */
  readonly entries: readonly LedgerEntry[];
  /** The client's record: all recorded events of all clients. */
  readonly record: readonly JsonEvent[];
  /** The final report. */
  readonly statuses: readonly Status[];
  /** The counts of the last client's last event; null: it printed none. */
  readonly counts: JsonEvent | null;
  /** By the name in job_results: `jobs.sh.3`, `jobs.sh.3.old-1`, `jobs.sh.3.again-2`. */
  readonly results: ReadonlyMap<string, Result>;
  /** By machine. */
  readonly suffered: ReadonlyMap<string, Suffering>;
}

export const PROBLEM_KINDS = [
  /** A result is missing or wrong, and no report shows it. */
  "lost",
  /** A job ran more often than is reported. */
  "twice",
  /** A job that did not reach its end is reported as succeeded. */
  "killed-as-succeeded",
  /** Reported as not finished, although every machine was fine in the end. */
  "stranded",
  /** Reported with an end that neither the job nor a fault explains. */
  "wrong-end",
  /** The client hangs, crashes or contradicts itself. */
  "client",
  /** Processes or files are left on a machine. */
  "left",
] as const;
type ProblemKind = (typeof PROBLEM_KINDS)[number];

export interface Problem {
  readonly kind: ProblemKind;
  readonly text: string;
}

/** The working directory of a round. */
const INPUTS = ["input.txt", "jobs.sh"];

export function audit(evidence: Evidence): Problem[] {
  const lines = groupBy(evidence.entries, ({ line }) => line);
  const statuses = new Map(evidence.statuses.map((status) => [status.job, status]));
  const reported = reportedAttempts(evidence.record);
  const known = new Set(evidence.jobs.map(({ line }) => line));
  const strangers = [...lines.keys()].filter((line) => !known.has(line));
  return [
    ...evidence.jobs.flatMap((job) => {
      const entries = lines.get(job.line) ?? [];
      const about = { job, entries, status: statuses.get(job.line), evidence };
      return [...auditRuns(about, reported), ...auditEnd(about)];
    }),
    ...strangers.map((line) => problem("wrong-end", line, "is no job of this batch")),
    ...auditCounts(evidence),
  ];
}

interface AboutJob {
  readonly job: TrialJob;
  readonly entries: readonly LedgerEntry[];
  readonly status: Status | undefined;
  readonly evidence: Evidence;
}

/** How often it ran, and whether each of these runs is reported. */
function auditRuns(about: AboutJob, reported: ReadonlyMap<string, Outcome | null>): Problem[] {
  const { line } = about.job;
  const starts = about.entries.filter(({ what }) => what === "start");
  const attempts = [...groupBy(starts, ({ attempt }) => attempt)].sort(([a], [b]) => a - b);
  const again = attempts.filter(([, times]) => times.length > 1);
  const unreported = attempts.filter(([attempt]) => !reported.has(`${line}-${attempt}`));
  const kept = [...about.evidence.results.keys()].filter((name) =>
    name.startsWith(`jobs.sh.${line}.`),
  ).length;
  const unkept = attempts.length - 1 - kept;
  return [
    ...again.map(([attempt, times]) =>
      problem("twice", line, `attempt ${attempt} began ${times.length} times on ${machinesOf(times)}`),
    ),
    ...unreported.map(([attempt, times]) =>
      problem(
        attempts.length > 1 ? "twice" : "lost",
        line,
        `attempt ${attempt} ran on ${machinesOf(times)}, and is not reported`,
      ),
    ),
    ...(unkept > 0 && unreported.length === 0
      ? [problem("twice", line, `${attempts.length} attempts ran, ${kept} earlier results are kept`)]
      : []),
    ...auditOverlap(about, reported),
  ];
}

/** An attempt that is reported as lost must have ended before the next one began. All clocks are those of one computer. */
function auditOverlap({ job, entries }: AboutJob, reported: ReadonlyMap<string, Outcome | null>): Problem[] {
  return entries.flatMap(({ what, attempt, at }) => {
    const isLost = reported.get(`${job.line}-${attempt}`)?.kind === "lost";
    const next = entries.find((entry) => entry.what === "start" && entry.attempt > attempt);
    if (what !== "done" || !isLost || next === undefined || at <= next.at) return [];
    return [problem("twice", job.line, `lost attempt ${attempt} ran on beside attempt ${next.attempt}`)];
  });
}

/** How it ended, compared with what it wrote itself. */
function auditEnd(about: AboutJob): Problem[] {
  const { job, entries, status, evidence } = about;
  const { line } = job;
  if (status === undefined) return [problem("lost", line, "is not reported at all")];
  const { outcome, state, collected, key } = status;
  const attempt = Number(key?.split("-").at(-1));
  if (!collected || outcome === null)
    return [problem("stranded", line, `is reported as ${state}, outcome ${JSON.stringify(outcome)}`)];
  const isDone = entries.some((entry) => entry.what === "done" && entry.attempt === attempt);
  const said = `attempt ${attempt} is reported as ${describe(outcome)}`;
  if (outcome.kind === "exited" && outcome.code === 0 && !isDone)
    return [problem("killed-as-succeeded", line, `${said}, but did not come to its end`)];
  const isAsMeant =
    job.ends === "timed-out"
      ? outcome.kind === "timed-out"
      : outcome.kind === "exited" && outcome.code === job.ends && isDone;
  const suffered = evidence.suffered.get(status.machine ?? "");
  if (isAsMeant) return auditResult(job, attempt, evidence.results.get(`jobs.sh.${line}`), suffered);
  if (isExplained(outcome, suffered)) return [];
  return [problem("wrong-end", line, `${said} on ${status.machine}; meant: ${job.ends}, done: ${isDone}`)];
}

function isExplained(outcome: Outcome, suffered: Suffering | undefined): boolean {
  if (suffered === undefined) return false;
  const { signals, isBroken, isRebooted } = suffered;
  if (outcome.kind === "lost") return isBroken || isRebooted || signals.size > 0;
  if (outcome.kind === "killed") return isBroken || signals.has(outcome.signal as Signal);
  return outcome.kind === "exited" && outcome.code !== 0 && isBroken;
}

function auditResult(
  { line, deed }: TrialJob,
  attempt: number,
  result: Result | undefined,
  suffered: Suffering | undefined,
): Problem[] {
  if (result === undefined) return [problem("lost", line, "has no result in job_results")];
  const wanted = JSON.stringify(expectedResult(deed, keyOf(line, attempt)));
  const isHurt = suffered !== undefined && (suffered.isBroken || suffered.signals.size > 0);
  const found = JSON.stringify({
    out: result.out,
    files: isHurt ? withoutInputs(result.files) : result.files,
  });
  return found === wanted ? [] : [problem("lost", line, `its result is ${found} instead of ${wanted}`)];
}

/** If the tool that drops unchanged inputs was killed, they are collected, too. */
function withoutInputs(files: Result["files"]): Result["files"] {
  return Object.fromEntries(Object.entries(files).filter(([path]) => !INPUTS.includes(path)));
}

function auditCounts({ jobs, statuses, counts }: Evidence): Problem[] {
  if (counts === null) return [{ kind: "client", text: "the last client printed no counts" }];
  const succeeded = statuses.filter(
    ({ collected, outcome }) => collected && outcome?.kind === "exited" && outcome.code === 0,
  ).length;
  const { failed, stopped, lost, unfinished } = counts;
  const sum = counts.succeeded + failed + stopped + lost + unfinished;
  if (sum === jobs.length && counts.succeeded === succeeded) return [];
  return [
    { kind: "client", text: `${JSON.stringify(counts)} for ${jobs.length} jobs, ${succeeded} succeeded` },
  ];
}

/** By job and attempt: how it ended, null while only its results are known to have arrived. */
function reportedAttempts(record: readonly JsonEvent[]): Map<string, Outcome | null> {
  const reported = new Map<string, Outcome | null>();
  for (const event of record) {
    if (event.kind === "job-ended" || event.kind === "job-collected")
      reported.set(`${event.job}-${event.attempt}`, event.outcome as Outcome);
    if (event.kind !== "jobs-arrived") continue;
    for (const [index, line] of event.jobs.entries()) {
      const name = `${line}-${event.attempts[index]}`;
      if (!reported.has(name)) reported.set(name, null);
    }
  }
  return reported;
}

function keyOf(line: number, attempt: number): string {
  return `5${String(line).padStart(12, "0")}-${line}-${attempt}`;
}

function problem(kind: ProblemKind, line: number, text: string): Problem {
  return { kind, text: `line ${line}: ${text}` };
}

function describe({ kind, code, signal }: Outcome): string {
  return [kind, code, signal].filter((word) => word !== undefined).join(" ");
}

function machinesOf(entries: readonly LedgerEntry[]): string {
  return [...new Set(entries.map(({ machine }) => machine))].join(", ");
}

function groupBy<T, K>(all: readonly T[], keyOfOne: (one: T) => K): Map<K, T[]> {
  const groups = new Map<K, T[]>();
  for (const one of all) {
    const key = keyOfOne(one);
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [one]);
    else group.push(one);
  }
  return groups;
}
