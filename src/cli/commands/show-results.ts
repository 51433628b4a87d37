// `sshoal results`: prints the results of a batch, one row per job. It only reads: nothing is written, locally or on
// machines.

import { type BatchHere, chooseBatch, loadBatches } from "../../batch/find/batches-here.js";
import { refresh } from "../../batch/find/refresh.js";
import { jobStatuses } from "../../batch/job-status.js";
import { loadMetrics } from "../../batch/output/job-metrics.js";
import { ExitCode, UserError } from "../../errors.js";
import type { ResultRow, ResultTable, Span } from "../../model/result.js";
import { attemptsOf } from "../../model/standing.js";
import { formatCsv } from "../../report/tables/results-csv.js";
import { resultsJson } from "../../report/tables/results-json.js";
import { formatPage, loadPageParts, pageData } from "../../report/tables/results-page.js";
import { resultLines } from "../../report/tables/results-table.js";
import { toCollectText, unreachedText } from "../../report/tables/status-lines.js";
import { columnsOf, findColumn } from "../../results/columns.js";
import { resultRow } from "../../results/rows.js";
import { sortRows } from "../../results/sort-rows.js";
import { spansOf } from "../../results/spans.js";
import { Results } from "../../run/home/results.js";
import type { ResultsOptions } from "../options/batch-commands.js";
import { readSurroundings } from "../read-surroundings.js";
import { connector } from "../terminal/connectors.js";
import { describeBatch } from "../terminal/describe-batch.js";
import { note } from "../terminal/note.js";

export async function showResults(options: ResultsOptions): Promise<ExitCode> {
  refuseTerminal(options);
  const surroundings = readSurroundings();
  const results = new Results(surroundings.cwd);
  const batch = choose(loadBatches(results), options.batch);
  const connect = connector(surroundings, { ...options, isJson: options.format === "json" }, warn);
  const unreached = await refresh(batch, connect);
  for (const each of unreached) warn(unreachedText(each));
  const now = Date.now();
  const uncollected = toCollectText(describeBatch(batch, NOT_ASKED, surroundings));
  if (uncollected !== "") note(uncollected);
  const spans = timeline(batch, now);
  const facts = { batch: batch.batch, isAllHere: uncollected === "", spans, now };
  process.stdout.write(formatResults(readRows(batch, results, facts), facts, options));
  return ExitCode.Success;
}

export function refuseTerminal({ format }: ResultsOptions): void {
  if (format !== "html" || !process.stdout.isTTY) return;
  throw new UserError("a page is for a browser, not for a terminal", {
    hint: "sshoal results --html > results.html",
  });
}

function choose(batches: readonly BatchHere[], word: string | null): BatchHere {
  if (word !== null) return chooseBatch(batches, word);
  const [only, ...others] = batches;
  if (only !== undefined && others.length === 0) return only;
  const stems = batches.map(({ stem }) => stem);
  throw new UserError(`which batch? There are ${stems.join(", ")}`, { hint: `sshoal results ${stems[0]}` });
}

function timeline({ state }: BatchHere, now: number): Map<string, Span> {
  return spansOf([...state.jobs.values()].flatMap(attemptsOf), now);
}

function readRows(batch: BatchHere, results: Results, { spans, now }: Facts): ResultRow[] {
  return jobStatuses(batch, now).flatMap((status) => {
    const tracked = batch.state.jobs.get(status.job);
    return tracked === undefined
      ? []
      : [resultRow(tracked, status, loadMetrics(results, status.name), spans)];
  });
}

interface Facts {
  /** Its identity, or the name of a queue. */
  readonly batch: string;
  /** The results of all ended jobs are on the local disk. */
  readonly isAllHere: boolean;
  readonly spans: ReadonlyMap<string, Span>;
  readonly now: number;
}

export function formatResults(
  unsorted: readonly ResultRow[],
  { batch, isAllHere, spans, now }: Facts,
  options: ResultsOptions,
): string {
  const { columns, leftOut } = columnsOf(unsorted);
  const column = options.sort === null ? null : findColumn(columns, options.sort.column);
  const isDescending = options.sort?.isDescending ?? false;
  const rows = column === null ? unsorted : sortRows(unsorted, { column, isDescending });
  const table: ResultTable = { batch, columns, rows };
  if (options.format === "json")
    return resultsJson(table)
      .map((line) => `${line}\n`)
      .join("");
  if (leftOut > 0) warn(`${leftOut} of the metrics are left out: --json has all`);
  if (options.format === "csv") return formatCsv(table);
  if (options.format === "html") return formatPage(loadPageParts(), pageData(table, spans.values(), now));
  if (isAllHere && rows.every(({ metrics }) => metrics.size === 0)) note(HOW_TO_LEAVE_METRICS);
  return resultLines(table, column, process.stdout.columns || 80)
    .map((line) => `${line}\n`)
    .join("");
}

const NOT_ASKED = { lastWords: new Map(), shortages: new Map(), unreached: [] };

const HOW_TO_LEAVE_METRICS =
  'no job has left a metric: let it print a line such as "sshoal: acc=0.91 loss=0.2"';

function warn(message: string): void {
  note(`WARNING: ${message}`);
}
