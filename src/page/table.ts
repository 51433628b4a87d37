// The table: one row per job, sorted by the heading that was last clicked.

import type { PageData, PageRow } from "../model/result.js";
import { compareCells } from "../results/compare-cells.js";
import { light } from "./marks.js";
import { toNumber } from "./scale.js";
import { cellAt, type Field, fieldsOf, formatCell } from "./view.js";

interface TableField extends Field {
  /** True if all its cells are numbers. */
  readonly isNumeric: boolean;
}

interface Line {
  readonly row: PageRow;
  readonly element: HTMLElement;
}

export function fillTable(table: HTMLTableElement, data: PageData): void {
  const fields = fieldsOf(data).map((field) => ({ ...field, isNumeric: isNumeric(field, data) }));
  const head = table.createTHead().insertRow();
  const body = table.createTBody();
  const lines = data.rows.map((row) => ({ row, element: lineFor(row, fields) }));
  for (const { element } of lines) body.append(element);
  for (const field of fields) head.append(headingFor(field, (heading) => sortBy(field, heading)));
  const sortBy = (field: Field, heading: HTMLElement) => {
    const isDescending = heading.getAttribute("aria-sort") === "ascending";
    for (const each of head.children) each.setAttribute("aria-sort", "none");
    heading.setAttribute("aria-sort", isDescending ? "descending" : "ascending");
    for (const { element } of sorted(lines, field, isDescending)) body.append(element);
  };
  body.addEventListener("pointerover", ({ target }) => {
    light((target as Element).closest("tr")?.dataset.job ?? null);
  });
  body.addEventListener("pointerleave", () => light(null));
}

function isNumeric(field: Field, { rows }: PageData): boolean {
  const cells = rows.map((row) => cellAt(row, field)).filter((cell) => cell !== null);
  return cells.length > 0 && cells.every((cell) => toNumber(cell) !== null);
}

function sorted(lines: readonly Line[], field: Field, isDescending: boolean): Line[] {
  return lines.toSorted((a, b) => compareCells(cellAt(a.row, field), cellAt(b.row, field), isDescending));
}

function headingFor(field: TableField, onClick: (heading: HTMLElement) => void): HTMLElement {
  const heading = document.createElement("th");
  heading.scope = "col";
  heading.setAttribute("aria-sort", "none");
  heading.classList.toggle("number", field.isNumeric);
  const button = document.createElement("button");
  button.type = "button";
  button.textContent = field.label;
  button.addEventListener("click", () => onClick(heading));
  heading.append(button);
  return heading;
}

function lineFor(row: PageRow, fields: readonly TableField[]): HTMLElement {
  const line = document.createElement("tr");
  line.dataset.job = String(row.job);
  line.append(...fields.map((field) => cellFor(formatCell(cellAt(row, field)), field)));
  return line;
}

function cellFor(text: string, { kind, isNumeric }: TableField): HTMLElement {
  const cell = document.createElement("td");
  cell.textContent = text;
  cell.classList.add(kind);
  cell.classList.toggle("number", isNumeric);
  if (kind === "state") cell.classList.add(text);
  if (kind === "command") cell.title = text;
  return cell;
}
