// `sshoal why`: what a job needs, and for each machine why the job does not start there.

import { jobLabel } from "../../model/job-label.js";
import type { Change, Hold, NextEnd, WhyBatch, WhyJob, WhyMachine } from "../../model/why.js";
import { jsonLine } from "../lines/json-lines.js";
import { formatDuration, formatRoughDuration } from "../text/amounts.js";
import { dependencyWords } from "../text/dependency-words.js";
import { memoryWords } from "../text/gigabytes.js";
import { needWords } from "../text/need-words.js";
import { outcomeWords, reasonWords } from "../text/outcome-words.js";
import { printable } from "../text/printable.js";
import type { Reason } from "../text/reason-facts.js";
import { reasonsFor } from "../text/shortage-words.js";
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

/** One object per job, in the format that docs/json-events.md promises to keep. `lines`: as for people. */
export function whyJson(why: WhyBatch): string[] {
  return why.jobs.map((each) => {
    const { job, kind, state, ...rest } = each;
    const { lastWords: _, ...facts } = { lastWords: "", ...rest };
    const lines = [...(why.hold === null ? [] : [holdLine(why.hold)]), ...jobLines(each, why)];
    const about = { v: 2, kind: "why", batch: why.batch, job: job.id, name: job.name, state, hold: why.hold };
    return jsonLine({ ...about, ...withoutCapacity(facts), lines });
  });
}

/** What was measured is in `sshoal top --json`. */
function withoutCapacity(facts: object): object {
  if (!("machines" in facts) || !Array.isArray(facts.machines)) return facts;
  return { ...facts, machines: facts.machines.map(({ capacity: _, ...machine }) => machine) };
}

function holdLine(hold: Hold): string {
  return hold.kind === "paused"
    ? `The batch is paused, so no new job starts: kill -USR2 ${hold.pid} resumes it`
    : `No client follows the batch, and these jobs are on no machine yet: ${printable(hold.command)}`;
}

function jobLines(why: WhyJob, batch: WhyBatch): string[] {
  const label = printable(jobLabel(why.job));
  switch (why.kind) {
    case "runs":
      return [`${label} runs on ${placeWords(why.machine, why.cards)}${lasting("for", why.elapsedMs)}`];
    case "ended":
      return [endedLine(label, why)];
    case "after":
      return [afterLine(label, why)];
    case "waits":
      return waitingLines(label, why, batch);
    default:
      return why satisfies never;
  }
}

/** `train waits for job 3 (prepare), which runs on gpu1`, or `train is skipped: after job 3 (prepare), which failed`. */
function afterLine(label: string, { dependency, others }: Extract<WhyJob, { kind: "after" }>): string {
  const words = dependencyWords(dependency);
  const more = others === 0 ? "" : `, and ${others} more ${others === 1 ? "waits" : "wait"} for jobs`;
  return dependency.isOver ? `${label} is skipped: ${words}` : `${label} ${words}${more}`;
}

function endedLine(label: string, why: Extract<WhyJob, { kind: "ended" }>): string {
  const { state, machine, elapsedMs, outcome, lastWords } = why;
  if (state === "stopped" && outcome === null)
    return `${label} was stopped before it began: sshoal retry ${label}`;
  const where = machine === null ? "" : ` on ${printable(machine)}`;
  const how = `${label} ${state}${where}${lasting("after", elapsedMs)}`;
  if (outcome === null || state === "succeeded") return how;
  const said = reasonWords(outcome, lastWords);
  return `${how}: ${outcomeWords(outcome, lastWords)}${said === "" ? "" : `: ${said}`}`;
}

function lasting(word: string, ms: number | null): string {
  return ms === null ? "" : ` ${word} ${formatDuration(ms)}`;
}

/** `gpu1:0`, or `gpu1` without cards. */
function placeWords(machine: string, cards: readonly number[]): string {
  return printable(cards.length === 0 ? machine : `${machine}:${cards.join(",")}`);
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
      return row(
        `unreachable${why.sinceMs === null ? "" : ` for ${formatDuration(why.sinceMs)}`}: ${printable(why.reason)}`,
      );
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
    ...(isNever
      ? [`${asked.length === machines.length ? "No machine" : "No reachable machine"} can ever run it.`]
      : []),
    ...(next === null ? [] : [nextWords(next)]),
    ...(change === null ? [] : [changeWords(change)]),
  ];
  return parts.length === 0 ? [] : [parts.join(" ")];
}

function nextWords({ machine, cards, job, inMs }: NextEnd): string {
  return `Likely next: ${placeWords(machine, cards)} in ~${formatRoughDuration(inMs)}, when ${printable(job)} ends.`;
}

function changeWords({ what, name = "", amount, machine, isNow }: Change): string {
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
    case "resource":
      return `{${printable(name)}: ${amount}} ${would}.`;
    default:
      return what satisfies never;
  }
}
