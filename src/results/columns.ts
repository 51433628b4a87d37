// The columns of a table of results: those of every batch, and those that the jobs of this batch add.

import { UserError } from "../errors.js";
import type { Column, FixedColumn, ResultRow } from "../model/result.js";

const BEFORE: readonly FixedColumn[] = ["job", "state", "failure"];
const USED: readonly FixedColumn[] = ["seconds", "cpu_seconds", "memory_mb", "gpu_memory_mb"];
const AFTER: readonly FixedColumn[] = [...USED, "machine", "slot", "attempt", "command"];
/** Each job may invent names; more than this many do not fit a table. */
const MOST_METRICS = 100;

export interface Columns {
  readonly columns: readonly Column[];
  /** How many metrics are left out. */
  readonly leftOut: number;
}

export function columnsOf(rows: readonly ResultRow[]): Columns {
  const taken = new Set<string>([...BEFORE, ...AFTER]);
  const parameters = namesIn(rows.map((row) => row.parameters));
  const metrics = namesIn(rows.map((row) => row.metrics));
  return {
    columns: [
      ...BEFORE.map(fixed),
      ...parameters.map((name) => named("parameter", name, taken)),
      ...metrics.slice(0, MOST_METRICS).map((name) => named("metric", name, taken)),
      ...AFTER.map(fixed),
    ],
    leftOut: Math.max(0, metrics.length - MOST_METRICS),
  };
}

function namesIn(maps: readonly ReadonlyMap<string, unknown>[]): string[] {
  return [...new Set(maps.flatMap((map) => [...map.keys()]))];
}

function fixed(name: FixedColumn): Column {
  return { kind: name, label: name };
}

/** Makes labels unique: a job may print its parameters among its metrics. */
function named(kind: "parameter" | "metric", name: string, taken: Set<string>): Column {
  let label = name;
  while (taken.has(label)) label = `${label} (${kind})`;
  taken.add(label);
  return { kind, name, label };
}

/** Throws a UserError that lists the columns if there is none of this name. */
export function findColumn(columns: readonly Column[], name: string): Column {
  const found = columns.find(({ label }) => label === name);
  if (found !== undefined) return found;
  const labels = columns.filter(({ kind }) => kind !== "command").map(({ label }) => label);
  const metrics = columns.filter(({ kind }) => kind === "metric").map(({ label }) => label);
  throw new UserError(`there is no column ${name}`, {
    hint:
      metrics.length === 0
        ? `no job has left a metric; there are ${labels.join(", ")}`
        : `there are the metrics ${metrics.join(", ")}, and ${labels.filter((label) => !metrics.includes(label)).join(", ")}`,
  });
}
