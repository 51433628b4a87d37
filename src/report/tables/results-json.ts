// `sshoal results --json`: one object per job, in the format that docs/json-events.md promises to keep.

import type { ResultTable } from "../../model/result.js";
import { failureField, jsonLine } from "../lines/json-lines.js";

export function resultsJson({ batch, rows }: Pick<ResultTable, "batch" | "rows">): string[] {
  return rows.map((row) => {
    const { job, name, line, state, outcome, leftOut } = row;
    const { startedAt, durationMs, machine, slot, attempt, command } = row;
    const parameters = Object.fromEntries(row.parameters);
    const metrics = Object.fromEntries(row.metrics);
    const ended = { outcome, ...failureField(outcome), ...(leftOut && { leftOut }) };
    const { memoryMb = null, gpuMemoryMb = null, cpuMs = null } = row.footprint ?? {};
    const about = { job, name, line, state, ...ended, parameters, metrics, startedAt, durationMs };
    const used = { cpuMs, memoryMb, gpuMemoryMb };
    return jsonLine({ kind: "job-result", batch, ...about, ...used, machine, slot, attempt, command });
  });
}
