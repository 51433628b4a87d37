// A metric against a parameter: one dot a job.

import type { PageData } from "../model/result.js";
import { asMark, listenToMarks } from "./marks.js";
import { jitter, scaleFor } from "./scale.js";
import { drawing, shorten, svg } from "./svg.js";
import { cellAt, describeRow, type Field, fieldsOf } from "./view.js";

const HEIGHT = 320;
const EDGE = { top: 30, right: 18, bottom: 44, left: 66 };
/** Dots at the ends of an axis do not lie on it. */
const AIR = 12;

export interface Axes {
  readonly metric: Field;
  readonly against: Field;
}

export function drawScatter(data: PageData, { metric, against }: Axes, width: number): SVGElement {
  const fields = fieldsOf(data);
  const across = scaleFor(
    data.rows.map((row) => cellAt(row, against)),
    against.kind === "metric",
  );
  const up = scaleFor(
    data.rows.map((row) => cellAt(row, metric)),
    true,
  );
  const [left, right] = [EDGE.left + AIR, width - EDGE.right - AIR];
  const [bottom, top] = [HEIGHT - EDGE.bottom - AIR, EDGE.top + AIR];
  const x = (at: number) => left + at * (right - left);
  const y = (at: number) => bottom + at * (top - bottom);
  const root = drawing(width, HEIGHT, `${metric.label} against ${against.label}`);
  const room = (right - left) / Math.max(1, across.ticks.length);
  for (const { at, label } of across.ticks) {
    root.append(svg("line", { class: "rule", x1: x(at), x2: x(at), y1: EDGE.top, y2: HEIGHT - EDGE.bottom }));
    const place = { x: x(at), y: HEIGHT - EDGE.bottom + 16, "text-anchor": "middle" };
    root.append(svg("text", place, shorten(label, room)));
  }
  for (const { at, label } of up.ticks) {
    root.append(svg("line", { class: "rule", x1: EDGE.left, x2: width - EDGE.right, y1: y(at), y2: y(at) }));
    const place = { x: EDGE.left - 8, y: y(at) + 4, "text-anchor": "end" };
    root.append(svg("text", place, shorten(label, EDGE.left - 10)));
  }
  const name = { class: "name", x: (left + right) / 2, y: HEIGHT - 8, "text-anchor": "middle" };
  root.append(svg("text", name, shorten(against.label, right - left)));
  root.append(svg("text", { class: "name", x: 10, y: 18 }, shorten(metric.label, width - 20)));
  for (const row of data.rows) {
    const [atX, atY] = [across.place(cellAt(row, against)), up.place(cellAt(row, metric))];
    if (atX === null || atY === null) continue;
    const shift = against.kind === "parameter" ? jitter(row.line) * Math.min(0.03, across.room * 0.3) : 0;
    const dot = svg("circle", { class: `dot ${row.state}`, cx: x(atX + shift), cy: y(atY), r: 4.5 });
    root.append(asMark(dot, row.line, describeRow(row, fields)));
  }
  return listenToMarks(root);
}
