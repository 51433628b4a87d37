// The second table of `sshoal probe`: one row per machine with the jobs that fit, and below it why there is no room for more.

import type { Capacity } from "../../model/machine.js";
import { NO_BASH } from "../lines/wording.js";
import { printable } from "../text/printable.js";
import { fitWidth, fitWidthKeepingEnd, padWidth, textWidth } from "../text/width.js";
import { wrap } from "../text/wrap.js";

export type ProbedMachine =
  | {
      readonly kind: "probed";
      readonly machine: string;
      readonly capacity: Capacity;
      /** How many jobs of the given requirement fit now. */
      readonly slots: number;
      /** Why there are none, or no more. */
      readonly notes: readonly string[];
    }
  | {
      readonly kind: "failed";
      readonly machine: string;
      readonly reason: string;
      readonly hint: string | null;
    };

const HEADINGS = ["machine", "slots", "cores free", "memory free"] as const;
const GAP = "  ";
const INDENT = "  ";
const WIDEST_NAME = 32;

/** Lines of at most `columns`, except text to be copied, each with its newline. */
export function formatProbeTable(machines: readonly ProbedMachine[], columns = 80): string {
  const rows = [HEADINGS, ...machines.map(cellsOf)];
  const widths = HEADINGS.map((_, column) =>
    Math.max(...rows.map((cells) => textWidth(cells[column] ?? ""))),
  );
  const details = machines.map((machine) => detailsOf(machine, columns));
  const lines = rows.flatMap((cells, index) => [
    ...[formatRow(cells, widths), ...(details[index - 1] ?? [])].map((line) => fitWidth(line, columns)),
    ...hintLines(machines[index - 1]),
  ]);
  return lines.map((line) => `${line.trimEnd()}\n`).join("");
}

function cellsOf(machine: ProbedMachine): string[] {
  const name = fitWidthKeepingEnd(printable(machine.machine), WIDEST_NAME);
  if (machine.kind === "failed") return [name, "none"];
  const { cpus, memory } = machine.capacity;
  return [
    name,
    String(machine.slots),
    cpus === null ? "unknown" : `${formatCpus(cpus.free)} of ${formatCpus(cpus.total)}`,
    memory === null ? "unknown" : formatMemory(memory.freeMb, memory.totalMb),
  ];
}

function formatCpus(cpus: number): string {
  return String(Math.round(cpus * 10) / 10);
}

function formatRow(cells: readonly string[], widths: readonly number[]): string {
  return cells.map((cell, column) => padWidth(cell, widths[column] ?? 0)).join(GAP);
}

function detailsOf(machine: ProbedMachine, columns: number): string[] {
  const notes = notesOf(machine).flatMap((note) => wrap(note, columns - textWidth(INDENT)));
  return notes.map((line) => INDENT + line);
}

/** In MB, as in the options for memory. */
function formatMemory(freeMb: number, totalMb: number | null): string {
  return totalMb === null ? `${freeMb} MB` : `${freeMb} of ${totalMb} MB`;
}

/** Not wrapped, so that it can be copied. */
function hintLines(machine: ProbedMachine | undefined): string[] {
  if (machine?.kind !== "failed" || machine.hint === null) return [];
  return [INDENT + printable(machine.hint)];
}

function notesOf(machine: ProbedMachine): readonly string[] {
  if (machine.kind === "failed") return [machine.reason];
  const { notes } = machine;
  const { gpuProblem } = machine.capacity;
  const isSaid = gpuProblem === null || notes.some((note) => note.includes(gpuProblem));
  return [
    ...(isSaid ? [] : [`GPU: ${gpuProblem}`]),
    ...(machine.capacity.shell === "sh" ? [NO_BASH] : []),
    ...notes,
  ];
}
