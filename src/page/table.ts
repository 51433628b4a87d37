// The table: one row a job, sorted by whichever heading was clicked last.

import type { PageData } from "../model/result.js";
import { compareCells } from "../results/compare-cells.js";
import { light } from "./marks.js";
import { toNumber } from "./scale.js";
import { cellAt, type Field, fieldsOf, formatCell } from "./view.js";

export function fillTable(table: HTMLTableElement, data: PageData): void {
  const fields = fieldsOf(data);
  const head = table.createTHead().insertRow();
  const body = table.createTBody();
  const lines = data.rows.map((row) => {
    const line = document.createElement("tr");
    line.dataset.line = String(row.line);
    line.append(...fields.map((field) => cellFor(formatCell(cellAt(row, field)), field, data)));
    return { row, line };
  });
  body.append(...lines.map(({ line }) => line));
  const sortBy = (field: Field, heading: HTMLElement) => {
    const isDescending = heading.getAttribute("aria-sort") === "ascending";
    for (const each of head.children) each.setAttribute("aria-sort", "none");
    heading.setAttribute("aria-sort", isDescending ? "descending" : "ascending");
    const sorted = lines.toSorted((a, b) =>
      compareCells(cellAt(a.row, field), cellAt(b.row, field), isDescending),
    );
    body.append(...sorted.map(({ line }) => line));
  };
  head.append(...fields.map((field) => headingFor(field, data, sortBy)));
  body.addEventListener("pointerover", ({ target }) => {
    light((target as Element).closest("tr")?.dataset.line ?? null);
  });
  body.addEventListener("pointerleave", () => light(null));
}

function headingFor(
  field: Field,
  data: PageData,
  sortBy: (field: Field, heading: HTMLElement) => void,
): HTMLElement {
  const heading = document.createElement("th");
  heading.scope = "col";
  heading.setAttribute("aria-sort", "none");
  if (isNumeric(field, data)) heading.className = "number";
  const button = document.createElement("button");
  button.type = "button";
  button.textContent = field.label;
  button.addEventListener("click", () => sortBy(field, heading));
  heading.append(button);
  return heading;
}

function cellFor(text: string, field: Field, data: PageData): HTMLElement {
  const cell = document.createElement("td");
  cell.textContent = text;
  cell.classList.add(field.kind);
  if (field.kind === "state") cell.classList.add(text);
  if (isNumeric(field, data)) cell.classList.add("number");
  if (field.kind === "command") cell.title = text;
  return cell;
}

const numeric = new Map<number, boolean>();

function isNumeric({ index }: Field, { rows }: PageData): boolean {
  const known = numeric.get(index);
  if (known !== undefined) return known;
  const cells = rows.map((row) => row.cells[index] ?? null).filter((cell) => cell !== null);
  const isIt = cells.length > 0 && cells.every((cell) => toNumber(cell) !== null);
  numeric.set(index, isIt);
  return isIt;
}
