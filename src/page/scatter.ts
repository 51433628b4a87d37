// Plots a metric against a parameter: one dot per job.

import type { PageData } from "../model/result.js";
import { asMark, listenToMarks } from "./marks.js";
import { jitter, type Scale, scaleFor } from "./scale.js";
import { drawing, shorten, svg } from "./svg.js";
import { cellAt, describeJob, describeRow, type Field, fieldsOf } from "./view.js";

const HEIGHT = 320;
const EDGE = { top: 30, right: 18, bottom: 44, left: 66 };
/** Keeps dots off the axes. */
const AIR = 12;

export interface Axes {
  readonly metric: Field;
  readonly against: Field;
}

/** Converts places along the axes to pixels. */
interface Frame {
  readonly width: number;
  readonly x: (at: number) => number;
  readonly y: (at: number) => number;
}

export function drawScatter(data: PageData, axes: Axes, width: number): SVGElement {
  const { metric, against } = axes;
  const cellsOf = (field: Field) => data.rows.map((row) => cellAt(row, field));
  const across = scaleFor(cellsOf(against), against.kind === "metric");
  const up = scaleFor(cellsOf(metric), true);
  const frame = frameFor(width);
  const root = drawing(width, HEIGHT, `${metric.label} against ${against.label}`);
  root.append(...ticksAcross(across, frame), ...ticksUp(up, frame), ...names(axes, frame));
  const fields = fieldsOf(data);
  for (const row of data.rows) {
    const [atX, atY] = [across.place(cellAt(row, against)), up.place(cellAt(row, metric))];
    if (atX === null || atY === null) continue;
    const shift = against.kind === "parameter" ? jitter(row.job) * Math.min(0.03, across.room * 0.3) : 0;
    const place = { cx: frame.x(atX + shift), cy: frame.y(atY), r: 4.5 };
    const dot = svg("circle", { class: `dot ${row.state}`, ...place });
    root.append(asMark(dot, row.job, describeRow(describeJob(row), row, fields)));
  }
  return listenToMarks(root);
}

function frameFor(width: number): Frame {
  const [left, right] = [EDGE.left + AIR, width - EDGE.right - AIR];
  const [bottom, top] = [HEIGHT - EDGE.bottom - AIR, EDGE.top + AIR];
  return {
    width,
    x: (at) => left + at * (right - left),
    y: (at) => bottom + at * (top - bottom),
  };
}

function ticksAcross({ ticks }: Scale, { x }: Frame): SVGElement[] {
  const room = (x(1) - x(0)) / Math.max(1, ticks.length);
  return ticks.flatMap(({ at, label }) => [
    svg("line", { class: "rule", x1: x(at), x2: x(at), y1: EDGE.top, y2: HEIGHT - EDGE.bottom }),
    svg("text", { x: x(at), y: HEIGHT - EDGE.bottom + 16, "text-anchor": "middle" }, shorten(label, room)),
  ]);
}

function ticksUp({ ticks }: Scale, { y, width }: Frame): SVGElement[] {
  return ticks.flatMap(({ at, label }) => [
    svg("line", { class: "rule", x1: EDGE.left, x2: width - EDGE.right, y1: y(at), y2: y(at) }),
    svg("text", { x: EDGE.left - 8, y: y(at) + 4, "text-anchor": "end" }, shorten(label, EDGE.left - 10)),
  ]);
}

function names({ metric, against }: Axes, { x, width }: Frame): SVGElement[] {
  const below = { class: "name", x: x(0.5), y: HEIGHT - 8, "text-anchor": "middle" };
  return [
    svg("text", below, shorten(against.label, x(1) - x(0))),
    svg("text", { class: "name", x: 10, y: 18 }, shorten(metric.label, width - 20)),
  ];
}
