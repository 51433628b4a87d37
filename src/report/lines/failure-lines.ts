// Lists the jobs of a run that did not succeed, one line each: how, where, how long, and the last line of their output.

import type { TrackedJob } from "../../model/batch-state.js";
import { jobLabel } from "../../model/job-label.js";
import { endingOf } from "../../model/standing.js";
import { whereOf } from "../live/place.js";
import type { ViewState } from "../live/view-state.js";
import { formatDuration } from "../text/amounts.js";
import { outcomeWords, reasonWords } from "../text/outcome-words.js";
import { printable } from "../text/printable.js";
import type { Signs } from "../text/signs.js";
import { fitWidth, fitWidthKeepingEnd, padWidth, textWidth } from "../text/width.js";

const LISTED = 20;
/** Stopped jobs say nothing new, and would push failed ones off the screen. */
const STOPPED_LISTED = 3;
const WIDEST_NAME = 24;

/** `title`: the batch's name, for a terminal on which other commands also print. */
export interface SummaryLook {
  readonly signs: Signs;
  readonly columns: number;
  readonly title?: string;
}

interface Failure {
  readonly word: "failed" | "stopped" | "lost";
  readonly label: string;
  readonly how: string;
  readonly where: string;
  readonly time: string;
  readonly reason: string;
}

/** First the failed jobs, then the lost and the stopped ones. */
export function failureLines(view: ViewState, jobs: readonly TrackedJob[], look: SummaryLook): string[] {
  const kinds = new Map<Failure["word"], TrackedJob[]>([
    ["failed", []],
    ["lost", []],
    ["stopped", []],
  ]);
  for (const tracked of jobs) {
    const word = endWordOf(tracked);
    if (word !== null && word !== "succeeded") kinds.get(word)?.push(tracked);
  }
  const listed = [...kinds].flatMap(([word, some]) =>
    some
      .slice(0, word === "stopped" ? STOPPED_LISTED : LISTED)
      .map((tracked) => failureOf(view, word, tracked)),
  );
  const { ellipsis } = look.signs;
  const countOf = (word: Failure["word"]) => kinds.get(word)?.length ?? 0;
  const left = over(countOf("failed"), LISTED) + over(countOf("lost"), LISTED);
  const stopped = over(countOf("stopped"), STOPPED_LISTED);
  const more = [
    ...(left === 0 ? [] : [`${ellipsis} and ${left} more: sshoal status lists them`]),
    ...(stopped === 0 ? [] : [`${ellipsis} and ${stopped} more stopped`]),
  ];
  return [...alignedLines(listed, look), ...more];
}

function over(amount: number, most: number): number {
  return Math.max(0, amount - most);
}

/** Null: it has not ended in this run, or its results are not collected. */
function endWordOf({ fate }: TrackedJob): ReturnType<typeof endingOf> | null {
  return fate.kind === "tried" && fate.stage.kind === "collected" ? endingOf(fate.stage.outcome) : null;
}

function failureOf(view: ViewState, word: Failure["word"], { job, fate }: TrackedJob): Failure {
  if (fate.kind !== "tried" || fate.stage.kind !== "collected") throw new Error(`${job.name} has not ended`);
  const { outcome, durationMs } = fate.stage;
  const lastWords = view.sources.lastWordsOf(job);
  return {
    word,
    label: printable(jobLabel(job)),
    how: outcomeWords(outcome, lastWords),
    where: whereOf(view, fate.machine, fate.stage),
    time: formatDuration(durationMs),
    reason: reasonWords(outcome, lastWords),
  };
}

function alignedLines(failures: readonly Failure[], { signs, columns }: SummaryLook): string[] {
  const { ellipsis } = signs;
  const short = failures.map((failure) => ({
    ...failure,
    label: fitWidthKeepingEnd(failure.label, WIDEST_NAME, ellipsis),
    where: fitWidthKeepingEnd(failure.where, WIDEST_NAME, ellipsis),
  }));
  const widthOf = (key: "label" | "how" | "where" | "time") =>
    Math.max(0, ...short.map((failure) => textWidth(failure[key])));
  const widths = {
    label: widthOf("label"),
    how: widthOf("how"),
    where: widthOf("where"),
    time: widthOf("time"),
  };
  return short.map(({ word, label, how, where, time, reason }) => {
    const cells = [
      `${signs.states[word]} ${" ".repeat(widths.label - textWidth(label))}${label}`,
      padWidth(how, widths.how),
      padWidth(where, widths.where),
      time.padStart(widths.time),
      reason,
    ];
    return fitWidth(cells.join("  ").replaceAll("\t", " ").trimEnd(), columns, ellipsis);
  });
}
