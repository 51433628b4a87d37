// The timeline: one row per slot, one bar per attempt.

import type { PageData, PageSpan } from "../model/result.js";
import { clockTicks, formatTime } from "./clock.js";
import { asMark, listenToMarks } from "./marks.js";
import { drawing, shortenKeepingEnd, svg } from "./svg.js";
import { describeRow, fieldsOf } from "./view.js";

const ROW = 22;
const BAR = 16;
const EDGE = { top: 10, right: 22, bottom: 26 };
const WIDEST_LABEL = 170;
const TICK_ROOM = 80;
/** Keeps short attempts visible. */
const NARROWEST = 2;
const LETTER = 7.5;

interface Frame {
  readonly begin: number;
  readonly lengthMs: number;
  readonly width: number;
  readonly height: number;
  /** The names of the slots, from top to bottom. */
  readonly slots: readonly string[];
  readonly labelWidth: number;
  readonly x: (ms: number) => number;
}

export function drawTimeline(data: PageData, width: number): SVGElement {
  const frame = frameFor(data, width);
  const root = drawing(width, frame.height, "attempts in their slots");
  root.append(...drawClock(frame), ...drawNames(frame));
  const rows = new Map(data.rows.map((row) => [row.job, row]));
  const rowOf = new Map(frame.slots.map((name, index) => [name, index]));
  const fields = fieldsOf(data);
  for (const span of data.spans) {
    const row = rows.get(span.job);
    const about = describeSpan(span, frame.begin);
    const [bar, ...number] = drawSpan(span, rowOf.get(slotName(span)) ?? 0, frame);
    if (bar === undefined) continue;
    const text = row === undefined ? about : describeRow(about, row, fields);
    root.append(asMark(bar, span.job, text), ...number);
  }
  return listenToMarks(root);
}

export function beginOf({ spans }: Pick<PageData, "spans">): number {
  return spans.reduce((earliest, { start }) => Math.min(earliest, start), Number.POSITIVE_INFINITY);
}

function frameFor(data: PageData, width: number): Frame {
  const begin = beginOf(data);
  const lengthMs = data.spans.reduce((longest, { end }) => Math.max(longest, end - begin), 1);
  const slots = slotsOf(data.spans);
  const letters = slots.reduce((most, { length }) => Math.max(most, length), 0);
  const labelWidth = Math.min(WIDEST_LABEL, width * 0.3, 14 + 7 * letters);
  const height = EDGE.top + slots.length * ROW + EDGE.bottom;
  const x = (ms: number) => labelWidth + (ms / lengthMs) * (width - labelWidth - EDGE.right);
  return { begin, lengthMs, width, height, slots, labelWidth, x };
}

/** In the order of the machines' names, and of their slots. */
function slotsOf(spans: readonly PageSpan[]): string[] {
  const found = new Map(spans.map((span) => [slotName(span), span]));
  const sorted = [...found.values()].sort((a, b) => {
    if (a.machine !== b.machine) return a.machine < b.machine ? -1 : 1;
    return a.slot - b.slot;
  });
  return sorted.map(slotName);
}

function slotName({ machine, slot }: PageSpan): string {
  return `${machine} ${slot}`;
}

function drawClock({ lengthMs, width, height, labelWidth, x }: Frame): SVGElement[] {
  const most = Math.max(1, (width - labelWidth) / TICK_ROOM);
  return clockTicks(lengthMs, most).flatMap(({ atMs, label }) => [
    svg("line", { class: "rule", x1: x(atMs), x2: x(atMs), y1: EDGE.top, y2: height - EDGE.bottom }),
    svg("text", { x: x(atMs), y: height - 8, "text-anchor": "middle" }, label),
  ]);
}

function drawNames({ slots, labelWidth }: Frame): SVGElement[] {
  return slots.map((name, index) => {
    const place = { class: "name", x: labelWidth - 8, y: EDGE.top + index * ROW + 15, "text-anchor": "end" };
    return svg("text", place, shortenKeepingEnd(name, labelWidth - 12));
  });
}

/** A bar, with the job's number if there is room. */
function drawSpan({ job, state, start, end }: PageSpan, row: number, { begin, x }: Frame): SVGElement[] {
  const y = EDGE.top + row * ROW + (ROW - BAR) / 2;
  const left = x(start - begin);
  const width = Math.max(NARROWEST, x(end - begin) - left);
  const bar = svg("rect", { class: `span ${state}`, x: left, y, width, height: BAR, rx: 2 });
  const text = String(job);
  if (width <= LETTER * text.length + 6) return [bar];
  const place = { class: "within", x: left + width / 2, y: y + 12, "text-anchor": "middle" };
  return [bar, svg("text", place, text)];
}

function describeSpan(span: PageSpan, begin: number): string {
  const { job, attempt, state, machine, slot, start, end } = span;
  const again = attempt > 1 ? `, attempt ${attempt}` : "";
  const from = formatTime(Math.round((start - begin) / 100) * 100);
  const long = formatTime(Math.round((end - start) / 100) * 100);
  return `job ${job}, ${state}${again}\n${machine}, slot ${slot}: ${long} from ${from} on`;
}
