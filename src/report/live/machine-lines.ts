// The middle of the live view: how each machine is doing.

import type { Slot } from "../../model/machine.js";
import { transferText } from "../lines/wording.js";
import { printable } from "../text/printable.js";
import { fitWidthKeepingEnd, padWidth, textWidth } from "../text/width.js";
import type { MachineView } from "./machine-view.js";
import { type Canvas, formatSpans, type Span, span } from "./styled-text.js";
import type { RunningJob } from "./view-state.js";

export function machineLines(
  machines: readonly MachineView[],
  jobs: readonly RunningJob[],
  canvas: Canvas,
): string[] {
  const { columns, look } = canvas;
  const names = machines.map(({ name }) => printable(name));
  const nameWidth = Math.min(Math.floor(columns * 0.4), Math.max(...names.map(textWidth)));
  return machines.map((machine, index) => {
    const name = fitWidthKeepingEnd(names[index] ?? "", nameWidth, look.ellipsis);
    return formatSpans(
      [span(padWidth(name, nameWidth)), span("  "), ...conditionOf(machine, slotsInUse(machine, jobs))],
      canvas,
    );
  });
}

function slotsInUse({ name }: MachineView, jobs: readonly RunningJob[]): Set<number> {
  return new Set(jobs.filter(({ machine }) => machine === name).map(({ slot }) => slot));
}

function conditionOf(machine: MachineView, busy: ReadonlySet<number>): Span[] {
  const { answer, staging, lostBecause } = machine;
  if (answer?.kind === "failed") return [span(`left out: ${printable(answer.reason)}`, "bad")];
  if (lostBecause !== null) return [span(`link lost, jobs there go on: ${printable(lostBecause)}`, "warn")];
  if (answer === null) return [span("connecting", "dim")];
  if (staging !== null && !machine.isStaged) {
    return [span(`staging ${transferText(staging)}`.trimEnd(), "dim")];
  }
  if (answer.slots.length === 0) return [span("no room for a job now", "warn")];
  return machine.isDone ? [span("done", "dim")] : occupationOf(machine, busy, answer.slots);
}

function occupationOf(
  { held, collecting }: MachineView,
  busy: ReadonlySet<number>,
  slots: readonly Slot[],
): Span[] {
  const inUse = slots.filter(({ index }) => busy.has(index));
  const cards = new Set(inUse.flatMap(({ gpus }) => gpus.map(({ index }) => index)));
  const spans = [span(`${inUse.length}/${slots.length} busy`, inUse.length > 0 ? "busy" : "normal")];
  if (cards.size > 0) spans.push(span(`  gpu ${[...cards].sort((a, b) => a - b).join(",")}`));
  const [waiting] = held;
  if (waiting !== undefined) spans.push(span(`  slot ${waiting[0]} waits: ${printable(waiting[1])}`, "warn"));
  if (collecting !== null) spans.push(span(`  collecting ${transferText(collecting)}`, "dim"));
  return spans;
}
