// The middle of the live view: the state of each machine.

import { labelsIn } from "../../model/job-label.js";
import type { Capacity, Gpu, Slot } from "../../model/machine.js";
import { firstReason } from "../../model/waiting-reason.js";
import { count, transferText } from "../lines/wording.js";
import { formatDuration } from "../text/amounts.js";
import { printable } from "../text/printable.js";
import { waitingWords } from "../text/waiting-words.js";
import { fitWidthKeepingEnd, padWidth, textWidth } from "../text/width.js";
import type { MachineView } from "./machine-view.js";
import { type Canvas, formatSpans, type Span, span } from "./styled-text.js";
import type { ViewState } from "./view-state.js";

/** Wider terminals have room for a machine's capacity. */
const COLUMNS_FOR_CAPACITY = 100;
/** A machine that takes longer to answer is marked. */
const SLOW_ANSWER_MS = 5000;

export function machineLines(machines: readonly MachineView[], view: ViewState, canvas: Canvas): string[] {
  const { columns, look } = canvas;
  const names = [...view.machines.keys()].map((name) => textWidth(printable(name)));
  const nameWidth = Math.min(Math.floor(columns * 0.4), Math.max(0, ...names));
  return machines.map((machine) => {
    const name = fitWidthKeepingEnd(printable(machine.name), nameWidth, look.ellipsis);
    const spans = [span(`${padWidth(name, nameWidth)}  `), ...conditionOf(machine, view, canvas)];
    return formatSpans(spans, canvas);
  });
}

function conditionOf(machine: MachineView, view: ViewState, canvas: Canvas): Span[] {
  const { answer, staging } = machine;
  if (answer?.kind === "failed") return [span(`left out: ${printable(answer.reason)}`, "bad")];
  const lost = lostText(machine, view, canvas.now);
  if (lost !== null) return [span(lost, "warn")];
  if (answer === null) return [connectingSpan(view, canvas.now)];
  if (staging !== null && !machine.isStaged) {
    return [span(`staging ${transferText(staging)}`.trimEnd(), "dim")];
  }
  if (answer.slots.length === 0) return [span("no room for a job now", "warn")];
  if (machine.isDone) return [span("done", "dim")];
  return occupationOf(machine, view, answer, canvas.columns >= COLUMNS_FOR_CAPACITY);
}

/** `unreachable for 1m20s, trying again; its 2 jobs continue: connection reset`; null: it answers. */
function lostText(
  { name, lostAt, quietSince, lostBecause }: MachineView,
  view: ViewState,
  now: number,
): string | null {
  const since = lostAt ?? quietSince;
  if (since === null) return null;
  const running = view.state.machines.get(name)?.current.running.size ?? 0;
  const jobs = running === 1 ? "its job continues" : `its ${count(running, "job")} continue`;
  const forText = formatDuration(now - since);
  const start = lostAt === null ? `no answer for ${forText}` : `unreachable for ${forText}, trying again`;
  const text = running === 0 ? start : `${start}; ${jobs}`;
  return lostBecause === null ? text : `${text}: ${printable(lostBecause)}`;
}

function connectingSpan({ startedAt }: ViewState, now: number): Span {
  const forMs = startedAt === null ? 0 : now - startedAt;
  if (forMs < SLOW_ANSWER_MS) return span("connecting", "dim");
  return span(`no answer for ${formatDuration(forMs)}, connecting`, "warn");
}

function occupationOf(
  { name, held, collecting, isDrained }: MachineView,
  view: ViewState,
  { slots, capacity }: { readonly slots: readonly Slot[]; readonly capacity: Capacity },
  isWide: boolean,
): Span[] {
  const busy = busySlots(view, name);
  const spans = [span(`${busy}/${slots.length} busy`, busy > 0 ? "busy" : "normal")];
  if (isDrained) spans.push(span("  takes no more jobs", "warn"));
  if (isWide) spans.push(span(`  ${capacityText(capacity)}`.trimEnd(), "dim"));
  const reason = firstReason(held);
  if (reason !== undefined) {
    const words = waitingWords(reason, { slots, batch: view.batch, labelOf: labelsIn(view.state.jobs) });
    spans.push(span(`  waits: ${words}`, "warn"));
  }
  if (collecting !== null) spans.push(span(`  collecting ${transferText(collecting)}`, "dim"));
  return spans;
}

function busySlots({ state }: ViewState, machine: string): number {
  const slots = new Set<number>();
  for (const { stage } of state.machines.get(machine)?.current.running ?? [])
    if (stage.kind === "running" && stage.slot !== null) slots.add(stage.slot);
  return slots.size;
}

/** The part that does not change while a batch runs: `64 cores  256 GB  4 x A100 40 GB`. */
function capacityText({ cpus, memory, gpus }: Capacity): string {
  const parts: string[] = [];
  if (cpus !== null) parts.push(count(cpus.total, "core"));
  if (memory?.totalMb) parts.push(gigabytes(memory.totalMb));
  return [...parts, ...cardTexts(gpus)].join("  ");
}

function cardTexts(gpus: readonly Gpu[]): string[] {
  const models = gpus.map(({ name, memoryTotalMb }) =>
    printable(memoryTotalMb === null ? name : `${name} ${gigabytes(memoryTotalMb)}`),
  );
  return [...new Set(models)].map((model) => `${models.filter((each) => each === model).length} x ${model}`);
}

function gigabytes(mb: number): string {
  return `${Math.round(mb / 1024)} GB`;
}
