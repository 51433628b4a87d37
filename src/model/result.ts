// The results of a batch as a table. Each row is a job with its parameters, its outcome and its metrics.

import type { Footprint } from "./footprint.js";
import { failureOf, type JobId, type Outcome } from "./job.js";
import type { MachineReason } from "./left-out.js";
import type { JobWord } from "./standing.js";

export type Cell = number | string | null;

/** Numbers are finite; everything else is text. */
export type Metrics = ReadonlyMap<string, number | string>;

export interface ResultRow {
  readonly job: JobId;
  readonly name: string;
  /** As in `Job`. */
  readonly label?: string;
  readonly line: number | null;
  readonly command: string;
  /** `skipped`: its results are on the local disk, but no record has the job's end. */
  readonly state: JobWord;
  readonly outcome: Outcome | null;
  /** As in `JobStatus`. */
  readonly leftOut?: readonly MachineReason[];
  readonly parameters: ReadonlyMap<string, string>;
  readonly metrics: Metrics;
  readonly machine: string | null;
  readonly slot: number | null;
  readonly attempt: number;
  /** By the local clock. */
  readonly startedAt: number | null;
  /** By the machine's clock; null while it has not ended. */
  readonly durationMs: number | null;
  /** Absent: unknown. */
  readonly footprint?: Footprint;
}

/** An attempt's place in the timeline of its slot. */
export interface Span {
  readonly job: JobId;
  readonly attempt: number;
  readonly machine: string;
  readonly slot: number;
  readonly start: number;
  readonly end: number;
  readonly state: Exclude<JobWord, "waiting" | "skipped">;
}

export type Column =
  | { readonly kind: "parameter" | "metric"; readonly label: string; readonly name: string }
  | { readonly kind: FixedColumn; readonly label: FixedColumn };

export type FixedColumn =
  | "job"
  | "state"
  | "failure"
  | "seconds"
  | "cpu_seconds"
  | "memory_mb"
  | "gpu_memory_mb"
  | "machine"
  | "slot"
  | "attempt"
  | "command";

export interface ResultTable {
  readonly batch: string;
  readonly columns: readonly Column[];
  readonly rows: readonly ResultRow[];
}

/** The short name of the job: the end of its name, as in `train.sh.7` or `train.sh.prepare`. */
export function labelOf({ job, name, label }: Pick<ResultRow, "job" | "name" | "label">): number | string {
  return label ?? Number(/\d+$/.exec(name)?.[0] ?? job);
}

export function cellOf(row: ResultRow, column: Column): Cell {
  switch (column.kind) {
    case "job":
      return labelOf(row);
    case "parameter":
      return row.parameters.get(column.name) ?? null;
    case "metric":
      return row.metrics.get(column.name) ?? null;
    case "failure":
      return row.outcome && failureOf(row.outcome);
    case "seconds":
      return row.durationMs === null ? null : row.durationMs / 1000;
    case "cpu_seconds":
      return row.footprint?.cpuMs === undefined ? null : row.footprint.cpuMs / 1000;
    case "memory_mb":
      return row.footprint?.memoryMb ?? null;
    case "gpu_memory_mb":
      return row.footprint?.gpuMemoryMb ?? null;
    default:
      return row[column.kind];
  }
}

const RARE: readonly Column["kind"][] = ["failure", "cpu_seconds", "memory_mb", "gpu_memory_mb"];

/** True for a column of measured values, or of classes of failures, if it says nothing new: people need not see it. */
export function isBlank(column: Column, rows: readonly ResultRow[]): boolean {
  const isNothing = (cell: Cell) => cell === null || (column.kind === "failure" && cell === "exit");
  return RARE.includes(column.kind) && rows.every((row) => isNothing(cellOf(row, column)));
}

/** The input of the results page. Cells are in the order of the columns. */
export interface PageData {
  readonly batch: string;
  /** Milliseconds since 1970, by the local clock. */
  readonly madeAt: number;
  readonly columns: readonly Pick<Column, "kind" | "label">[];
  readonly rows: readonly PageRow[];
  readonly spans: readonly PageSpan[];
}

/** With the job named as by `labelOf`. */
export interface PageSpan extends Omit<Span, "job"> {
  readonly job: number | string;
}

export interface PageRow {
  /** From `labelOf`. */
  readonly job: number | string;
  readonly state: ResultRow["state"];
  readonly cells: readonly Cell[];
}
