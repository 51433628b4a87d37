// Rows of results for tests, with defaults for facts that do not matter to a test.

import type { ResultRow, ResultTable } from "../../../src/model/result.js";
import { columnsOf } from "../../../src/results/columns.js";

type Facts = Partial<Omit<ResultRow, "parameters" | "metrics">> & {
  parameters?: Record<string, string>;
  metrics?: Record<string, number | string>;
};

export function aRow({ parameters = {}, metrics = {}, ...facts }: Facts = {}): ResultRow {
  const job = facts.job ?? 1;
  return {
    job,
    name: `sweep.${job}`,
    line: job,
    command: `train ${job}`,
    state: "succeeded",
    outcome: { kind: "exited", code: 0 },
    machine: "gpu1",
    slot: 0,
    attempt: 1,
    startedAt: 1000,
    durationMs: 1500,
    ...facts,
    parameters: new Map(Object.entries(parameters)),
    metrics: new Map(Object.entries(metrics)),
  };
}

export function aTable(...rows: ResultRow[]): ResultTable {
  return { batch: "sweep-1", columns: columnsOf(rows).columns, rows };
}
