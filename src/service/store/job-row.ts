// A row of the table `jobs` -> QueueJob, and back.

import type { Outcome } from "../../model/job.js";
import { type Dependency, kindOf, type Requirement } from "../../model/job.js";
import type { JobTerms, QueueJob } from "../../model/queue.js";
import type { SqlRow, SqlValue } from "./load-sqlite.js";

/** What a job is from the start; its id is from `takeIds`. */
export type AskedJob = Pick<
  QueueJob,
  "id" | "name" | "command" | "cwd" | "need" | "priority" | "after" | "terms" | "isHeld" | "results"
>;

/** A job that is to be added. */
export interface NewJob extends AskedJob {
  /** Of `after`: those that are met already. */
  readonly met?: readonly Dependency[];
  /** The hash of its variables in the secrets; null: it has none. */
  readonly environment: string | null;
  readonly enqueuedAt: number;
}

/** What a row has besides the job that users see. */
export interface JobInside {
  readonly kind: string;
  /** The generation that it was given to; null: none. */
  readonly given: number | null;
  /** How often it was given to one. */
  readonly turns: number;
  readonly environment: string | null;
  /** How many jobs it still comes after. */
  readonly unmet: number;
}

export const NEW_COLUMNS = [
  "queue",
  "id",
  "name",
  "command",
  "cwd",
  "need",
  "kind",
  "priority",
  "dependencies",
  "terms",
  "tree",
  "environment",
  "state",
  "held",
  "unmet",
  "enqueued_at",
  "results",
] as const;

export function toColumns(queue: string, job: NewJob): SqlValue[] {
  const { id, name, command, cwd, need, priority, after, met = [], terms, environment } = job;
  const { isHeld, enqueuedAt, results } = job;
  return [
    queue,
    id,
    name,
    command,
    cwd,
    JSON.stringify(need),
    kindOf(need),
    priority,
    after.length === 0 ? null : JSON.stringify(after),
    JSON.stringify(terms),
    terms.tree ?? null,
    environment,
    "waiting",
    Number(isHeld),
    after.filter((dependency) => !isAmong(met, dependency)).length,
    enqueuedAt,
    results,
  ];
}

export function isAmong(met: readonly Dependency[], { job, when }: Dependency): boolean {
  return met.some((other) => other.job === job && other.when === when);
}

export function fromRow(row: SqlRow): QueueJob {
  return {
    queue: text(row, "queue"),
    id: Number(row.id),
    name: row.name as string | null,
    command: text(row, "command"),
    cwd: text(row, "cwd"),
    need: json<Requirement>(row.need) as Requirement,
    priority: Number(row.priority),
    after: json<Dependency[]>(row.dependencies) ?? [],
    terms: json<JobTerms>(row.terms) ?? {},
    state: row.state as QueueJob["state"],
    isHeld: row.held === 1,
    isHere: row.ended_at !== null,
    attempt: Number(row.attempt),
    machine: row.machine as string | null,
    got: json<QueueJob["got"]>(row.got) ?? {},
    reason: row.reason as string | null,
    enqueuedAt: Number(row.enqueued_at),
    startedAt: row.started_at as number | null,
    endedAt: row.ended_at as number | null,
    durationMs: row.duration_ms as number | null,
    outcome: json<Outcome>(row.outcome),
    footprint: json<NonNullable<QueueJob["footprint"]>>(row.footprint),
    stderrTail: row.stderr_tail as string | null,
    results: text(row, "results"),
  };
}

export function insideOf(row: SqlRow): JobInside {
  return {
    kind: text(row, "kind"),
    given: row.given as number | null,
    turns: Number(row.turns),
    environment: row.environment as string | null,
    unmet: Number(row.unmet),
  };
}

/** The service alone writes these columns. */
export function json<T>(value: SqlValue | undefined): T | null {
  return typeof value === "string" ? (JSON.parse(value) as T) : null;
}

export function toJson(value: unknown): string | null {
  return value === null || value === undefined ? null : JSON.stringify(value);
}

export function text(row: SqlRow, column: string): string {
  return String(row[column]);
}
