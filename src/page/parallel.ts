// Parallel coordinates: an axis per parameter that varies and one for the metric, and one line per job, coloured by the
// metric.

import type { PageData, PageRow } from "../model/result.js";
import { colourAt } from "./colour.js";
import { asMark, listenToMarks } from "./marks.js";
import { jitter, type Scale, scaleFor } from "./scale.js";
import { drawing, shorten, svg } from "./svg.js";
import { cellAt, describeJob, describeRow, type Field, fieldsOf } from "./view.js";

const HEIGHT = 320;
const EDGE = { top: 40, bottom: 18, side: 52 };
const NARROWEST = 84;
const MOST_AXES = 16;
const STEPS = 24;
/** Spreads lines through one value, so that they can be distinguished. */
const SPREAD = 0.06;

interface Axis {
  readonly field: Field;
  readonly scale: Scale;
  readonly isMetric: boolean;
  readonly x: number;
  /** Space for the labels beside it. */
  readonly room: number;
}

export function drawParallel(data: PageData, metric: Field, room: number): SVGElement {
  const fields = axesFor(data, metric);
  const width = Math.max(room, 2 * EDGE.side + NARROWEST * (fields.length - 1));
  const step = (width - 2 * EDGE.side) / Math.max(1, fields.length - 1);
  const axes = fields.map((field, index): Axis => {
    const isMetric = index === fields.length - 1;
    const cells = data.rows.map((row) => cellAt(row, field));
    const x = fields.length === 1 ? width / 2 : EDGE.side + index * step;
    return { field, isMetric, x, room: Math.min(step, 2 * EDGE.side), scale: scaleFor(cells, isMetric) };
  });
  const root = drawing(width, HEIGHT, `parameters and ${metric.label}, job by job`);
  // Opaque lines would hide each other.
  const opacity = Math.max(0.15, Math.min(0.7, 60 / data.rows.length));
  const all = fieldsOf(data);
  for (const row of data.rows) {
    const places = axes.map((axis) => placeOn(axis, row));
    const value = places.at(-1) ?? null;
    if (value === null) continue;
    const paint = { stroke: colourAt(value), "stroke-opacity": opacity };
    const thread = svg("path", { class: "thread", d: pathThrough(places, axes), ...paint });
    root.append(asMark(thread, row.job, describeRow(describeJob(row), row, all)));
  }
  root.append(...axes.flatMap(drawAxis));
  return listenToMarks(root);
}

/** A parameter with the same value for all jobs is not shown. */
function axesFor(data: PageData, metric: Field): Field[] {
  const varying = fieldsOf(data).filter(({ kind, index }) => {
    return kind === "parameter" && new Set(data.rows.map(({ cells }) => cells[index])).size > 1;
  });
  return [...varying.slice(0, MOST_AXES), metric];
}

function y(at: number): number {
  return HEIGHT - EDGE.bottom - at * (HEIGHT - EDGE.top - EDGE.bottom);
}

function placeOn({ field, scale, isMetric }: Axis, row: PageRow): number | null {
  const at = scale.place(cellAt(row, field));
  return at === null || isMetric ? at : at + jitter(row.job) * Math.min(SPREAD, scale.room * 0.5);
}

/** A line has a gap where its job lacks a parameter. */
function pathThrough(places: readonly (number | null)[], axes: readonly Axis[]): string {
  return places
    .map((at, index) => {
      if (at === null) return "";
      const isFirst = (places[index - 1] ?? null) === null;
      return `${isFirst ? "M" : "L"}${axes[index]?.x.toFixed(1)} ${y(at).toFixed(1)}`;
    })
    .join("");
}

function drawAxis({ field, scale, isMetric, x, room }: Axis): SVGElement[] {
  const name = { class: "name", x, y: 18, "text-anchor": "middle" };
  const beside = isMetric ? { x: x + 9, "text-anchor": "start" } : { x: x - 6, "text-anchor": "end" };
  const letters = isMetric ? EDGE.side - 8 : Math.min(room, EDGE.side + 8) - 14;
  return [
    ...(isMetric ? colourBar(x) : [svg("line", { class: "rule", x1: x, x2: x, y1: y(0), y2: y(1) })]),
    svg("text", name, shorten(field.label, room)),
    ...scale.ticks.map(({ at, label }) =>
      svg("text", { class: "over", ...beside, y: y(at) + 4 }, shorten(label, letters)),
    ),
  ];
}

function colourBar(x: number): SVGElement[] {
  return Array.from({ length: STEPS }, (_, index) => {
    const [low, high] = [index / STEPS, (index + 1) / STEPS];
    const place = { x: x - 3, y: y(high) - 0.5, width: 6, height: y(low) - y(high) + 1 };
    return svg("rect", { ...place, fill: colourAt((low + high) / 2) });
  });
}
