// Every reporter, fed as a client feeds it, and compared with the counts of the run itself.

import { expect } from "vitest";
import { jobStatuses } from "../../../src/batch/job-status.js";
import type { BatchState } from "../../../src/model/batch-state.js";
import type { JobStatus } from "../../../src/model/batch-status.js";
import type { RunEvent } from "../../../src/model/event.js";
import { type Outcome, succeeded } from "../../../src/model/job.js";
import type { ResultTable } from "../../../src/model/result.js";
import { attemptsOf, JOB_WORDS, type JobWord } from "../../../src/model/standing.js";
import { countJobs } from "../../../src/plan/run-state.js";
import { createPlainReporter } from "../../../src/report/lines/plain.js";
import { createSimpleReporter } from "../../../src/report/lines/simple.js";
import { frameLines } from "../../../src/report/live/frame.js";
import { lookOf } from "../../../src/report/live/styled-text.js";
import { createTerminalReporter } from "../../../src/report/live/terminal.js";
import { applyToView, newView, type ViewState } from "../../../src/report/live/view-state.js";
import type { Reporter } from "../../../src/report/reporter.js";
import { pageData } from "../../../src/report/tables/results-page.js";
import { resultLines } from "../../../src/report/tables/results-table.js";
import { statusLines } from "../../../src/report/tables/status-lines.js";
import { signsOf } from "../../../src/report/text/signs.js";
import { columnsOf } from "../../../src/results/columns.js";
import { resultRow } from "../../../src/results/rows.js";
import { spansOf } from "../../../src/results/spans.js";
import { SOURCES, textSink } from "./builders.js";
import { Screen } from "./screen.js";

/** How many jobs a text or a list shows in which state. */
type Said = Readonly<Record<string, number>>;

/** For one client. */
export class EveryProjection {
  readonly #state: BatchState;
  readonly #view: ViewState = newView([], SOURCES);
  readonly #sinks = {
    plain: textSink(),
    plainNotices: textSink(),
    simple: textSink(),
    simpleEnd: textSink(),
  };
  readonly #screen = new Screen(200, 50);
  readonly #reporters: readonly Reporter[];

  constructor(state: BatchState) {
    this.#state = state;
    const { plain, plainNotices, simple, simpleEnd } = this.#sinks;
    const about = { ...SOURCES, machines: [...state.machines.keys()], useUnicode: false };
    this.#reporters = [
      createPlainReporter({ stdout: plain, stderr: plainNotices, isVerbose: false, ...about }),
      createSimpleReporter({ stdout: simple, stderr: simpleEnd, ...about }),
      createTerminalReporter({
        ...about,
        stream: this.#screen,
        now: () => 0,
        useColour: false,
      }),
    ];
  }

  hear(event: RunEvent, isNews: boolean): void {
    const known = { state: this.#state, isNews };
    applyToView(this.#view, event, known);
    for (const reporter of this.#reporters) reporter.show(event, known);
    this.#compareLiveView();
  }

  /** The client ends here, in any way. */
  close(): void {
    for (const reporter of this.#reporters) reporter.close();
    this.#compareSummaries();
    this.#comparePlainLines();
    compareStatus(this.#state);
    compareResults(this.#state);
  }

  #compareLiveView(): void {
    const look = lookOf({ useColour: false, useUnicode: false });
    const [bar = "", counts = ""] = frameLines(this.#view, { columns: 200, rows: 50, now: 0, look });
    const own = ownCounts(this.#state);
    const { running = 0, waiting = 0, "to collect": ended = 0, ...over } = said(counts);
    // Their fate is unknown because their machine was left out: lost, and unfinished for a run.
    const { unknown } = this.#state.tally;
    const lost = own.lost + unknown;
    expect({ ...NONE, ...over, unfinished: running + waiting + ended + unknown }).toEqual({ ...own, lost });
    expect(bar).toContain(` ${this.#state.jobs.size - own.unfinished}/${this.#state.jobs.size}, `);
  }

  #compareSummaries(): void {
    const { plain, simpleEnd } = this.#sinks;
    const own = ownCounts(this.#state);
    expect({ ...NONE, ...said(summaryIn(plain.text)) }).toEqual(own);
    expect({ ...NONE, ...said(summaryIn(this.#screen.lines.join("\n"))) }).toEqual(own);
    const isAllWell = own.succeeded === this.#state.jobs.size;
    if (isAllWell) expect(simpleEnd.text).not.toMatch(SUMMARY);
    else expect({ ...NONE, ...said(summaryIn(simpleEnd.text)) }).toEqual(own);
  }

  /** The last line about a job is true. */
  #comparePlainLines(): void {
    for (const { job, fate } of this.#state.jobs.values()) {
      const about = this.#sinks.plain.text.split("\n").filter((line) => line.split(/[ ;]+/)[1] === job.name);
      const ending = about.findLast((line) => /^(finished|failed|stopped|lost): /.test(line));
      if (ending === undefined || fate.kind !== "tried" || fate.stage.kind !== "collected") continue;
      const word = endingOf(fate.stage.outcome);
      expect(ending.split(":")[0]).toBe(word === "succeeded" ? "finished" : word);
    }
  }
}

const TIMES = { isAtWork: false, elapsedMs: 0, timeLeftMs: null };
const NONE = { succeeded: 0, failed: 0, stopped: 0, lost: 0, unfinished: 0, skipped: 0 };
const SUMMARY = /^(?:\S+: )?\d+ succeeded, .* in \d.*$/m;

function summaryIn(text: string): string {
  return SUMMARY.exec(text)?.[0] ?? "";
}

/** "4 succeeded, 1 skipped (1 of them failed before)": the number in brackets is already counted. */
function said(text: string): Said {
  const parts = text.replace(/\(.*?\)|\d+ of them incomplete/g, "").matchAll(/(\d+) (to collect|[a-z]+)/g);
  return Object.fromEntries([...parts].map(([, amount, word = ""]) => [word, Number(amount)]));
}

/** As in reports: skipped jobs are not counted a second time by their outcome, and include those that other jobs block. */
function ownCounts(state: BatchState): Record<keyof typeof NONE, number> {
  const { blocked = 0, unneeded = 0, ...known } = countJobs(state);
  const { skipped, unfinished } = known;
  const counts = { ...known, skipped: skipped + blocked + unneeded, unfinished: unfinished - blocked };
  for (const { fate } of state.jobs.values()) if (fate.kind === "skipped") counts[endingOf(fate.outcome)]--;
  return counts;
}

function endingOf(outcome: Outcome | null): "succeeded" | "failed" | "stopped" | "lost" {
  if (outcome === null || succeeded(outcome)) return "succeeded";
  return outcome.kind === "stopped" || outcome.kind === "lost" ? outcome.kind : "failed";
}

/** Jobs whose results are collected, or that were stopped before they began; the others are unfinished for a run. */
function compareStatus(state: BatchState): void {
  const statuses = statusesOf(state);
  const here = statuses.filter(
    ({ isHere, state: word, outcome }) => isHere || (word === "stopped" && outcome === null),
  );
  const { skipped, blocked, unneeded = 0, ...counts } = countJobs(state);
  const of = (word: JobWord) => here.filter((status) => status.state === word).length;
  const unfinished = statuses.length - here.length - unneeded;
  const words = { failed: of("failed"), stopped: of("stopped"), lost: of("lost"), unfinished };
  expect({ succeeded: of("succeeded") + of("skipped"), ...words }).toEqual(counts);
  const nothing = {
    slots: new Map(),
    spoolFormats: new Map(),
    lastWords: new Map(),
    shortages: new Map(),
    unreached: [],
  };
  const about = { batch: "j", stem: "j", directory: "~", follower: null, command: "", ...nothing, ...TIMES };
  const look = { signs: signsOf(false), columns: 200, rowColumns: 200 };
  const [, line = ""] = statusLines({ ...about, jobs: here }, look);
  expect(said(line.replace(/, \d+ in all$/, ""))).toEqual(inWords(here));
}

function compareResults(state: BatchState): void {
  const attempts = [...state.jobs.values()].flatMap(attemptsOf);
  const spans = spansOf(attempts, 0);
  const statuses = statusesOf(state);
  const rows = statuses.flatMap((status) => {
    const tracked = state.jobs.get(status.job);
    return tracked === undefined ? [] : [resultRow(tracked, status, new Map(), spans)];
  });
  const table: ResultTable = { batch: "j", rows, ...columnsOf(rows) };
  const line = resultLines(table, null, 200).find((each) => each.startsWith("j: ")) ?? "";
  expect({ succeeded: 0, ...said(line) }).toEqual(inWords(statuses));
  expect(inWords(pageData(table, spans.values(), 0).rows)).toEqual(inWords(statuses));
}

function statusesOf(state: BatchState): JobStatus[] {
  return jobStatuses({ jobs: [...state.jobs.values()].map(({ job }) => job), state, stuck: new Map() }, 0);
}

/** Without zero counts, except the number of succeeded jobs. */
function inWords(items: readonly { readonly state: JobWord }[]): Said {
  const counts = JOB_WORDS.map((word) => [word, items.filter(({ state }) => state === word).length] as const);
  return Object.fromEntries(counts.filter(([word, amount]) => amount > 0 || word === "succeeded"));
}
