// Turns rows into tables, and puts the tables into the page, between its two marks.

import { readFile, writeFile } from "node:fs/promises";
import type { Series } from "./rounds.js";

export interface Row {
  readonly what: string;
  readonly ours: string;
  readonly peer?: string;
  readonly ratio?: number;
  /** Absent: for information. */
  readonly goal?: { readonly text: string; readonly isMet: boolean } | undefined;
  readonly note?: string | undefined;
}

interface Comparison {
  readonly what: string;
  /** In ms. */
  readonly ours: Series;
  readonly peer: Series;
  readonly peerName: string;
  /** The highest allowed ratio to the peer. */
  readonly goal?: number;
  readonly note?: string;
}

export function compare({ what, ours, peer, peerName, goal, note }: Comparison): Row {
  const ratio = ours.median / peer.median;
  return {
    what,
    ours: formatTimes(ours),
    peer: `${peerName}: ${formatTimes(peer)}`,
    ratio,
    goal: goal === undefined ? undefined : { text: `≤ ${Number(goal.toFixed(2))}×`, isMet: ratio <= goal },
    note,
  };
}

function formatTimes(times: Series): string {
  return formatSeries(times, formatSeconds);
}

export function formatSeconds(ms: number): string {
  if (ms < 10) return `${ms.toFixed(1)} ms`;
  return ms < 1000 ? `${Math.round(ms)} ms` : `${(ms / 1000).toFixed(ms < 10_000 ? 2 : 1)} s`;
}

export function formatMegabytes(bytes: Series): string {
  return formatSeries(bytes, (value) => `${Math.round(value / 1e6)} MB`);
}

export function formatSeries({ median, min, max }: Series, format: (value: number) => string): string {
  return `${format(median)} (${format(min)} – ${format(max)})`;
}

export function formatReport(surroundings: readonly string[], rows: readonly Row[]): string {
  const judged = rows.filter(({ goal }) => goal !== undefined);
  const others = rows.filter(({ goal }) => goal === undefined);
  return [
    surroundings.map((fact) => `- ${fact}`).join("\n"),
    ...formatTable("With a goal", ["goal", ""], judged),
    ...formatTable("For information", [], others),
  ].join("\n\n");
}

function formatTable(title: string, verdict: readonly string[], rows: readonly Row[]): string[] {
  if (rows.length === 0) return [];
  const columns = ["what", "sshoal", "compared with", "ratio", ...verdict, "note"];
  return [
    `### ${title}`,
    [formatCells(columns), formatCells(columns.map(() => "---")), ...rows.map(formatRow)].join("\n"),
  ];
}

function formatRow({ what, ours, peer = "", ratio, goal, note = "" }: Row): string {
  const verdict = goal === undefined ? [] : [goal.text, goal.isMet ? "met" : "**not met**"];
  return formatCells([what, ours, peer, ratio === undefined ? "" : `${ratio.toFixed(2)}×`, ...verdict, note]);
}

function formatCells(cells: readonly string[]): string {
  return `| ${cells.map((cell) => cell.replaceAll("|", "\\|")).join(" | ")} |`;
}

const BEGIN = "<!-- measured: begin -->";
const END = "<!-- measured: end -->";

export async function saveReport(path: string, report: string): Promise<void> {
  const page = await readFile(path, "utf8");
  const [begin, end] = [page.indexOf(BEGIN), page.indexOf(END)];
  if (begin < 0 || end < begin) throw new Error(`${path} has no ${BEGIN} … ${END}`);
  await writeFile(path, `${page.slice(0, begin + BEGIN.length)}\n\n${report}\n\n${page.slice(end)}`);
}
