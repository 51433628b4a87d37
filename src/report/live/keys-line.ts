// The last lines of the live view (pure): which keys do what, or why no new job begins.

import { count } from "../lines/wording.js";
import { textWidth } from "../text/width.js";
import { type Canvas, formatSpans, type Span, span } from "./styled-text.js";
import type { ViewState } from "./view-state.js";

type KeysView = Pick<ViewState, "state" | "keys" | "interrupted" | "stopping" | "paused">;

export function keysLines(view: KeysView, canvas: Canvas): string[] {
  const { keys } = view;
  const format = (...spans: Span[]) => formatSpans(spans, canvas);
  const joined = (style: Span["style"], ...parts: string[]) =>
    format(span(parts.join(canvas.look.keyGap), style));
  if (keys === null) return [format(footWithoutKeys(view))];
  if (keys === "watching") return [watchingLine(view, joined)];
  if (keys === "list") return KEYS.map(([key, what]) => format(span(key.padEnd(8)), span(what, "dim")));
  if (keys === "detaching") return [joined("warn", ...detachingParts(view))];
  if (view.interrupted !== "no") return [joined("warn", ...interruptedParts(view))];
  if (keys === "leave") return [joined("warn", ...leaveParts(view))];
  if (view.stopping !== null) return [format(span(view.stopping, "warn"))];
  if (view.paused !== null) return [joined("warn", ...PAUSED)];
  return [format(...hintSpans(view, canvas))];
}

const PAUSED = ["paused, no new jobs", "c continue", "d detach", "q leave or stop"];

/** The notice of the client that follows the batch, and how to leave. */
function watchingLine(
  { stopping, paused }: KeysView,
  joined: (style: Span["style"], ...parts: string[]) => string,
): string {
  const notice = stopping ?? paused;
  const leaving = "Ctrl-C stops watching";
  return notice === null ? joined("dim", leaving, "the batch continues") : joined("warn", notice, leaving);
}

const KEYS = [
  ["d", "detach: jobs continue, sshoal attach follows them"],
  ["q", "leave or stop: detach, drain or stop"],
  ["Ctrl-C", "drain: no new jobs, running ones finish; again: stop them"],
  ["Ctrl-Z", "suspend this view: jobs continue, fg shows it again"],
  ["?", "hide this list"],
] as const;

const CLOSING = "closing this window stops nothing";

function footWithoutKeys(view: KeysView): Span {
  const notice = view.stopping ?? view.paused;
  if (notice !== null) return span(notice, "warn");
  const hint = "Ctrl-C: no new jobs, running ones finish";
  return span(isWithMachines(view) ? `${hint}; ${CLOSING}` : hint, "dim");
}

function hintSpans(view: KeysView, { columns, look }: Canvas): Span[] {
  const hint = ["d detach", "q leave or stop", "? keys"].join(look.keyGap);
  const both = `${hint}      ${CLOSING}`;
  return [span(isWithMachines(view) && textWidth(both) <= columns ? both : hint, "dim")];
}

function leaveParts({ state: { tally } }: KeysView): string[] {
  const stop = tally.running > 0 ? `s stop ${count(tally.running, "job")}` : "s stop";
  return ["d detach, jobs continue", "r drain, no new jobs", stop, "Esc back"];
}

function interruptedParts({ interrupted, state: { tally } }: KeysView): string[] {
  const { running } = tally;
  const jobs = count(running, "job");
  if (interrupted === "stop") {
    return [`stopping ${running > 0 ? jobs : "the batch"}, collecting results`, "d detach"];
  }
  if (running === 0) return ["draining, no job runs", "c continue", "d detach"];
  const finish = `${jobs} ${running === 1 ? "finishes" : "finish"}`;
  return [`draining, ${finish}`, "c continue", `s stop ${running === 1 ? "it" : "them"}`, "d detach"];
}

function detachingParts({ state }: KeysView): string[] {
  const unsent = state.tally.waiting - state.held.size - countQueued(state);
  if (unsent === 0) return ["detaching"];
  return [`detaching once the machines have ${count(unsent, "more job")}`, "d detach now"];
}

/** True if every unfinished job is on a machine, which needs no client for it. */
function isWithMachines({ state }: KeysView): boolean {
  const { waiting, running, ended } = state.tally;
  return waiting + running + ended > 0 && countQueued(state) === waiting;
}

function countQueued({ machines }: ViewState["state"]): number {
  return [...machines.values()].reduce((sum, { current }) => sum + current.queued.size, 0);
}
