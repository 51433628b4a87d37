// `sshoal why`: what a job needs, and for each machine why the job does not start there.

import type { Change, Hold, NextEnd, WhyBatch, WhyJob, WhyMachine } from "../../model/why.js";
import { formatDuration, formatRoughDuration } from "../text/amounts.js";
import { memoryWords } from "../text/gigabytes.js";
import { jobLabel } from "../text/job-label.js";
import { needWords } from "../text/need-words.js";
import { outcomeWords, reasonWords } from "../text/outcome-words.js";
import { printable } from "../text/printable.js";
import { type Reason, reasonsFor } from "../text/shortage-words.js";
import { fitWidth, fitWidthKeepingEnd, padWidth, textWidth } from "../text/width.js";

const GAP = "  ";
const WIDEST_MACHINE = 24;

/** Without their newlines. `columns`: rows are cut there. */
export function whyLines(why: WhyBatch, columns: number): string[] {
  const { hold, jobs, more } = why;
  const blocks = jobs.map((job) => jobLines(job, why));
  return [
    ...(hold === null ? [] : [holdLine(hold)]),
    ...blocks.flatMap((lines, index) => (index === 0 ? lines : ["", ...lines])),
    ...(more === 0 ? [] : ["", `${more} more ${more === 1 ? "group waits" : "groups wait"}: sshoal why JOB`]),
  ].map((line) => fitWidth(line, columns));
}

function holdLine(hold: Hold): string {
  return hold.kind === "paused"
    ? "The batch is paused: nothing new starts. c in the client that follows it continues."
    : `No client follows the batch, and these jobs are on no machine yet: ${printable(hold.command)}`;
}

function jobLines(why: WhyJob, batch: WhyBatch): string[] {
  const label = printable(jobLabel(why.job));
  switch (why.kind) {
    case "runs":
      return [`${label} runs on ${why.place}${why.elapsedMs === null ? "" : ` for ${formatDuration(why.elapsedMs)}`}`];
    case "ended":
      return [endedLine(label, why)];
    case "waits":
      return waitingLines(label, why, batch);
    default:
      return why satisfies never;
  }
}

function endedLine(label: string, { state, place, elapsedMs, outcome, lastWords }: Extract<WhyJob, { kind: "ended" }>): string {
  if (state === "stopped" && outcome === null) return `${label} was stopped before it began: sshoal retry ${label}`;
  const where = `${place === null ? "" : ` on ${place}`}${elapsedMs === null ? "" : ` after ${formatDuration(elapsedMs)}`}`;
  if (outcome === null || state === "succeeded") return `${label} ${state}${where}`;
  const said = reasonWords(outcome, lastWords);
  return `${label} ${state}${where}: ${outcomeWords(outcome, lastWords)}${said === "" ? "" : `: ${said}`}`;
}

function waitingLines(label: string, why: Extract<WhyJob, { kind: "waits" }>, { batch }: WhyBatch): string[] {
  const rows = why.machines.flatMap((machine) => machineRows(machine, batch));
  const names = Math.min(WIDEST_MACHINE, Math.max(0, ...rows.map(([name]) => textWidth(name))));
  const subjects = Math.max(0, ...rows.map(([, { subject }]) => textWidth(subject)));
  const lines = rows.map(([name, { subject, words }], index) => {
    const isFirst = index === 0 || rows[index - 1]?.[0] !== name;
    const shown = isFirst ? fitWidthKeepingEnd(name, names) : "";
    // Words about the whole machine begin where subjects do.
    const rest = subject === "" ? words : `${padWidth(subject, subjects)}${GAP}${words}`;
    return `${padWidth(shown, names)}${GAP}${rest}`;
  });
  return [headLine(label, why), ...lines, ...closingLines(why)];
}

/** `17 waits: needs 1 card with 16 GB, 4 cores, 8 GB   (lr 1e-3 bs 64)` */
function headLine(label: string, { job, others, requirement }: Extract<WhyJob, { kind: "waits" }>): string {
  const who = others === 0 ? `${label} waits` : `${label} and ${others} more wait`;
  const parameters = Object.entries(job.parameters ?? {}).map(([name, value]) => `${name} ${value}`);
  const set = parameters.length === 0 || others > 0 ? "" : `   (${printable(parameters.join(" "))})`;
  return `${who}: needs ${needWords(requirement)}${set}`;
}

function machineRows(why: WhyMachine, batch: string): [string, Reason][] {
  const name = printable(why.machine);
  const row = (words: string): [string, Reason][] => [[name, { subject: "", words }]];
  switch (why.kind) {
    case "unreachable":
      return row(`unreachable${why.sinceMs === null ? "" : ` for ${formatDuration(why.sinceMs)}`}: ${printable(why.reason)}`);
    case "drained":
      return row(`drained, takes no new jobs: sshoal undrain ${name}`);
    case "starts":
      return row("has room: the job starts within seconds");
    case "waits": {
      const reasons = reasonsFor(why.shortages, { ...why, batch, labelOf: (key) => key });
      return reasons.map((reason) => [name, reason]);
    }
    default:
      return why satisfies never;
  }
}

/** `Likely next: gpu1:1 in ~30s, when 15 ends. 14 GB would start it now.` */
function closingLines({ machines, next, change }: Extract<WhyJob, { kind: "waits" }>): string[] {
  const asked = machines.filter(({ kind }) => kind !== "unreachable");
  const isNever = asked.length > 0 && asked.every((each) => each.kind === "waits" && each.isNever);
  const parts = [
    ...(isNever ? [`${asked.length === machines.length ? "No machine" : "No reachable machine"} can ever run it.`] : []),
    ...(next === null ? [] : [nextWords(next)]),
    ...(change === null ? [] : [changeWords(change)]),
  ];
  return parts.length === 0 ? [] : [parts.join(" ")];
}

function nextWords({ machine, cards, job, inMs }: NextEnd): string {
  const place = printable(cards.length === 0 ? machine : `${machine}:${cards.join(",")}`);
  return `Likely next: ${place} in ~${formatRoughDuration(inMs)}, when ${printable(job)} ends.`;
}

function changeWords({ what, amount, machine, isNow }: Change): string {
  const would = isNow ? "would start it now" : `would fit on ${printable(machine)}`;
  switch (what) {
    case "card memory":
      return `${memoryWords(amount)} per card ${would}.`;
    case "memory":
      return `${memoryWords(amount)} of memory ${would}.`;
    case "cores":
      return `${amount} ${amount === 1 ? "core" : "cores"} ${would}.`;
    case "cards":
      return `${amount} ${amount === 1 ? "card" : "cards"} ${would}.`;
    default:
      return what satisfies never;
  }
}
