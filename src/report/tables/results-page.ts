// `sshoal results --html`: one self-contained page. Its script is src/page/, built beside the command. Text from jobs
// is only data for it, and the page's policy lets nothing else run or load.

import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { cellOf, isBlank, labelOf, type PageData, type ResultTable, type Span } from "../../model/result.js";

export interface PageParts {
  readonly html: string;
  readonly style: string;
  readonly script: string;
}

export function loadPageParts(): PageParts {
  const read = (name: string) => readFileSync(new URL(`./page/${name}`, import.meta.url), "utf8");
  return { html: read("page.html"), style: read("style.css"), script: read("draw-page.js") };
}

export function pageData(table: ResultTable, spans: Iterable<Span>, madeAt: number): PageData {
  const { batch, rows } = table;
  const columns = table.columns.filter((column) => !isBlank(column, rows));
  const labels = new Map(rows.map((row) => [row.job, labelOf(row)]));
  return {
    batch,
    madeAt,
    columns: columns.map(({ kind, label }) => ({ kind, label })),
    rows: rows.map((row) => ({
      job: labelOf(row),
      state: row.state,
      cells: columns.map((column) => cellOf(row, column)),
    })),
    spans: [...spans].map((span) => ({ ...span, job: labels.get(span.job) ?? span.job })),
  };
}

export function formatPage({ html, style, script }: PageParts, data: PageData): string {
  const parts: Readonly<Record<string, string>> = {
    TITLE: escapeHtml(data.batch),
    STYLE_HASH: hashSource(style),
    SCRIPT_HASH: hashSource(script),
    STYLE: style,
    SCRIPT: script,
    // Nothing in the data can end its element.
    DATA: JSON.stringify(data).replaceAll("<", "\\u003c"),
  };
  return html.replace(/%([A-Z_]+)%/g, (_, name: string) => parts[name] ?? "");
}

function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (char) => `&#${char.charCodeAt(0)};`);
}

/** The form in which a policy names an element's text. */
function hashSource(text: string): string {
  return `sha256-${createHash("sha256").update(text).digest("base64")}`;
}
