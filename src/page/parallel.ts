// Parallel coordinates: an axis for each parameter that varies and one for the metric, one thread a job, coloured by the
// metric.

import type { PageData } from "../model/result.js";
import { colourAt } from "./colour.js";
import { asMark, listenToMarks } from "./marks.js";
import { jitter, scaleFor } from "./scale.js";
import { drawing, shorten, svg } from "./svg.js";
import { cellAt, describeRow, type Field, fieldsOf } from "./view.js";

const HEIGHT = 320;
const EDGE = { top: 40, bottom: 18, side: 52 };
const NARROWEST = 84;
const MOST_AXES = 16;
const STEPS = 24;
/** So that threads through one value can be told apart. */
const SPREAD = 0.06;

export function drawParallel(data: PageData, metric: Field, room: number): SVGElement {
  const fields = fieldsOf(data);
  const axes = axesFor(data, metric).map((field, index, all) => {
    const cells = data.rows.map((row) => cellAt(row, field));
    const isMetric = index === all.length - 1;
    return { field, index, isMetric, scale: scaleFor(cells, isMetric) };
  });
  const width = Math.max(room, 2 * EDGE.side + NARROWEST * (axes.length - 1));
  const step = (width - 2 * EDGE.side) / Math.max(1, axes.length - 1);
  const x = (index: number) => (axes.length === 1 ? width / 2 : EDGE.side + index * step);
  const y = (at: number) => HEIGHT - EDGE.bottom - at * (HEIGHT - EDGE.top - EDGE.bottom);
  const root = drawing(width, HEIGHT, `parameters and ${metric.label}, job by job`);
  // Many threads would hide each other.
  const opacity = Math.max(0.15, Math.min(0.7, 60 / data.rows.length));
  for (const row of data.rows) {
    const places = axes.map(({ field, scale, isMetric }) => {
      const at = scale.place(cellAt(row, field));
      return at === null || isMetric ? at : at + jitter(row.line) * Math.min(SPREAD, scale.room * 0.5);
    });
    const value = places.at(-1) ?? null;
    if (value === null) continue;
    const paint = { stroke: colourAt(value), "stroke-opacity": opacity };
    const thread = svg("path", { class: "thread", d: pathThrough(places, x, y), ...paint });
    root.append(asMark(thread, row.line, describeRow(row, fields)));
  }
  for (const { field, index, isMetric, scale } of axes) {
    const at = x(index);
    if (isMetric) root.append(...colourBar(at, y));
    else root.append(svg("line", { class: "rule", x1: at, x2: at, y1: y(0), y2: y(1) }));
    const name = { class: "name", x: at, y: 18, "text-anchor": "middle" };
    root.append(svg("text", name, shorten(field.label, Math.min(step, 2 * EDGE.side))));
    const side = isMetric ? { x: at + 9, "text-anchor": "start" } : { x: at - 6, "text-anchor": "end" };
    for (const { at: tick, label } of scale.ticks) {
      const text = shorten(label, isMetric ? EDGE.side - 8 : Math.min(step, EDGE.side + 8) - 14);
      root.append(svg("text", { class: "over", ...side, y: y(tick) + 4 }, text));
    }
  }
  return listenToMarks(root);
}

/** What is the same for all jobs tells nothing. */
function axesFor(data: PageData, metric: Field): Field[] {
  const varying = fieldsOf(data).filter(({ kind, index }) => {
    return kind === "parameter" && new Set(data.rows.map(({ cells }) => cells[index])).size > 1;
  });
  return [...varying.slice(0, MOST_AXES), metric];
}

/** A job without a parameter has a gap there. */
function pathThrough(
  places: readonly (number | null)[],
  x: (index: number) => number,
  y: (at: number) => number,
): string {
  let isDown = false;
  return places
    .map((at, index) => {
      if (at === null) {
        isDown = false;
        return "";
      }
      const step = `${isDown ? "L" : "M"}${x(index).toFixed(1)} ${y(at).toFixed(1)}`;
      isDown = true;
      return step;
    })
    .join("");
}

function colourBar(at: number, y: (at: number) => number): SVGElement[] {
  return Array.from({ length: STEPS }, (_, index) => {
    const [low, high] = [index / STEPS, (index + 1) / STEPS];
    return svg("rect", {
      x: at - 3,
      y: y(high) - 0.5,
      width: 6,
      height: y(low) - y(high) + 1,
      fill: colourAt((low + high) / 2),
    });
  });
}
