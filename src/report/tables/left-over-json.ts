// `sshoal clean --json`: one object per batch or tree that is on a machine, in the format that docs/json-events.md promises to keep.

import { jsonLine } from "../lines/json-lines.js";
import type { CleanedMachine, LeftRow } from "./left-over-table.js";

const STATES: Readonly<Record<LeftRow["end"], string>> = {
  removed: "removed",
  "would be removed": "removable",
  kept: "kept",
  "could not be removed": "stuck",
};

/** Lines, each with its newline. */
export function formatLeftOverJson(machines: readonly CleanedMachine[]): string {
  return machines
    .flatMap(machineObjects)
    .map((line) => `${line}\n`)
    .join("");
}

function machineObjects(cleaned: CleanedMachine): string[] {
  const { machine } = cleaned;
  if (cleaned.kind === "looked") return cleaned.rows.map((row) => leftOver(machine, row));
  const { reason, hint } = cleaned;
  return [jsonLine({ kind: "machine-failed", machine, reason, hint })];
}

function leftOver(machine: string, { what, name, bytes, ageSeconds, end, reason }: LeftRow): string {
  const about = { machine, what, name, bytes, ageSeconds };
  return jsonLine({ kind: "left-over", ...about, state: STATES[end], reason });
}
