// Who ran when and where: a row for each slot, a bar for each attempt.

import type { PageData, Span } from "../model/result.js";
import { clockTicks, formatTime } from "./clock.js";
import { asMark, listenToMarks } from "./marks.js";
import { drawing, shortenKeepingEnd, svg } from "./svg.js";
import { describeRow, fieldsOf } from "./view.js";

const ROW = 22;
const BAR = 16;
const EDGE = { top: 10, right: 22, bottom: 26 };
const WIDEST_LABEL = 170;
const TICK_ROOM = 80;
/** Shorter attempts are still to be seen. */
const NARROWEST = 2;
const LETTER = 7.5;

export function drawTimeline(data: PageData, width: number): SVGElement {
  const { spans } = data;
  const begin = beginOf(data);
  const length = Math.max(1, ...spans.map(({ end }) => end - begin));
  const slots = slotsOf(spans);
  const label = Math.min(WIDEST_LABEL, width * 0.3, 14 + 7 * Math.max(...slots.map((name) => name.length)));
  const height = EDGE.top + slots.length * ROW + EDGE.bottom;
  const x = (ms: number) => label + (ms / length) * (width - label - EDGE.right);
  const root = drawing(width, height, "attempts in their slots");
  for (const { atMs, label: text } of clockTicks(length, Math.max(1, (width - label) / TICK_ROOM))) {
    const at = x(atMs);
    root.append(svg("line", { class: "rule", x1: at, x2: at, y1: EDGE.top, y2: height - EDGE.bottom }));
    root.append(svg("text", { x: at, y: height - 8, "text-anchor": "middle" }, text));
  }
  slots.forEach((name, index) => {
    const place = { class: "name", x: label - 8, y: EDGE.top + index * ROW + 15, "text-anchor": "end" };
    root.append(svg("text", place, shortenKeepingEnd(name, label - 12)));
  });
  const rows = new Map(data.rows.map((row) => [row.line, row]));
  const fields = fieldsOf(data);
  for (const span of spans) {
    const row = rows.get(span.line);
    const y = EDGE.top + slots.indexOf(slotName(span)) * ROW + (ROW - BAR) / 2;
    const left = x(span.start - begin);
    const long = Math.max(NARROWEST, x(span.end - begin) - left);
    const bar = svg("rect", { class: `span ${span.state}`, x: left, y, width: long, height: BAR, rx: 2 });
    const about = row === undefined ? "" : describeRow(row, fields).replace(/^.*/, "");
    root.append(asMark(bar, span.line, `${describeSpan(span, begin)}${about}`));
    const text = String(span.line);
    if (long > LETTER * text.length + 6) {
      const place = { class: "within", x: left + long / 2, y: y + 12, "text-anchor": "middle" };
      root.append(svg("text", place, text));
    }
  }
  return listenToMarks(root);
}

export function beginOf({ spans }: Pick<PageData, "spans">): number {
  return spans.reduce((earliest, { start }) => Math.min(earliest, start), Number.POSITIVE_INFINITY);
}

/** In the order of the machines' names, and of their slots. */
function slotsOf(spans: readonly Span[]): string[] {
  const found = new Map(spans.map((span) => [slotName(span), span]));
  const sorted = [...found.values()].sort((a, b) => {
    if (a.machine !== b.machine) return a.machine < b.machine ? -1 : 1;
    return a.slot - b.slot;
  });
  return sorted.map(slotName);
}

function slotName({ machine, slot }: Span): string {
  return `${machine} ${slot}`;
}

function describeSpan(span: Span, begin: number): string {
  const { line, attempt, state, machine, slot, start, end } = span;
  const again = attempt > 1 ? `, attempt ${attempt}` : "";
  const from = formatTime(Math.round((start - begin) / 100) * 100);
  const long = formatTime(Math.round((end - start) / 100) * 100);
  return `job ${line}, ${state}${again}\n${machine}, slot ${slot}: ${long} from ${from} on`;
}
