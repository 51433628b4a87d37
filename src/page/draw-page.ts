// The results page in the browser: draws the contents of the data element. Loads nothing, sends nothing.

import type { PageData } from "../model/result.js";
import { drawParallel } from "./parallel.js";
import { toNumber } from "./scale.js";
import { drawScatter } from "./scatter.js";
import { byId, drawInto } from "./svg.js";
import { fillTable } from "./table.js";
import { beginOf, drawTimeline } from "./timeline.js";
import { cellAt, type Field, fieldsOf } from "./view.js";

const data = JSON.parse(byId("data").textContent ?? "") as PageData;

showCounts();
showPlots();
showTimeline();
fillTable(byId<HTMLTableElement>("table"), data);

function showCounts(): void {
  const counts = new Map<string, number>();
  for (const { state } of data.rows) counts.set(state, (counts.get(state) ?? 0) + 1);
  const parts = [...counts].map(([state, count]) => `${count} ${state}`);
  byId("counts").textContent = `${parts.join(", ")} · as of ${new Date(data.madeAt).toLocaleString()}`;
}

function showPlots(): void {
  const fields = fieldsOf(data);
  const metrics = fields.filter((field) => field.kind === "metric" && hasNumbers(field));
  const varying = fields.filter((field) => field.kind === "parameter" && varies(field));
  const others = fields.filter(({ kind }) => kind === "job" || kind === "seconds" || kind === "machine");
  byId("no-metrics").hidden = metrics.length > 0;
  byId("plots").hidden = metrics.length === 0;
  if (metrics.length === 0) return;
  const chooseMetric = byId<HTMLSelectElement>("metric");
  const chooseAgainst = byId<HTMLSelectElement>("parameter");
  fillSelect(chooseMetric, metrics);
  fillSelect(chooseAgainst, [...varying, ...others, ...metrics.slice(0, 20)]);
  const chosen = ({ value }: HTMLSelectElement): Field => fields[Number(value)] as Field;
  const redraws = [
    drawInto(byId("scatter"), (width) =>
      drawScatter(data, { metric: chosen(chooseMetric), against: chosen(chooseAgainst) }, width),
    ),
    drawInto(byId("parallel"), (width) => drawParallel(data, chosen(chooseMetric), width)),
  ];
  const update = () => {
    for (const redraw of redraws) redraw();
    caption(chosen(chooseMetric), chosen(chooseAgainst));
  };
  for (const select of [chooseMetric, chooseAgainst]) select.addEventListener("change", update);
  caption(chosen(chooseMetric), chosen(chooseAgainst));
}

function fillSelect(select: HTMLSelectElement, fields: readonly Field[]): void {
  select.append(...fields.map(({ label, index }) => new Option(label, String(index))));
}

function caption(metric: Field, against: Field): void {
  const count = data.rows.filter((row) => toNumber(cellAt(row, metric)) !== null).length;
  const left = data.rows.length - count;
  const without = left === 0 ? "" : `; ${left} without it`;
  byId("scatter-caption").textContent = `${metric.label} against ${against.label}, ${count} jobs${without}`;
  byId("parallel-caption").textContent = `every parameter that varies; colour: ${metric.label}`;
}

function hasNumbers(field: Field): boolean {
  return data.rows.some((row) => toNumber(cellAt(row, field)) !== null);
}

function varies(field: Field): boolean {
  return new Set(data.rows.map((row) => cellAt(row, field))).size > 1;
}

function showTimeline(): void {
  const about = byId("timeline-caption");
  if (data.spans.length === 0) {
    byId("timeline").hidden = true;
    about.textContent = "Nothing has run yet.";
    return;
  }
  drawInto(byId("timeline"), (width) => drawTimeline(data, width));
  about.textContent = `one row per slot; 0s is ${new Date(beginOf(data)).toLocaleString()}`;
}
