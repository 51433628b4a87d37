// event -> record -> apply -> decide -> perform, until nothing is left. Prints nothing.

import type { RunEvent } from "../model/event.js";
import { begin, type Decision, decide, isOver, settle } from "../plan/decide.js";
import { apply, type RunState } from "../plan/state.js";

/** An event as whoever saw it tells it; the loop adds when. */
export type News = RunEvent extends infer Event ? (Event extends unknown ? Omit<Event, "at"> : never) : never;
export type Emit = (news: News) => void;

const TICK_MS = 1000;

export interface LoopParts {
  readonly state: RunState;
  readonly perform: (decision: Decision, emit: Emit) => Promise<void>;
  readonly record: { append(event: RunEvent): void; sync(): void };
  readonly onEvent: (event: RunEvent) => void;
  readonly now: () => number;
}

export interface Loop {
  readonly emit: Emit;
  /** Like emit, but taken in at once and safe in the record on return. */
  readonly commit: Emit;
  /** Takes in what was emitted so far, before run() does. */
  settle(): void;
  /** Resolves when the run is over; rejects on a bug, or when `abandon` was called. */
  run(): Promise<void>;
  /** Leaves everything as it is over there. */
  abandon(reason: Error): void;
}

export function makeLoop({ state, perform, record, onEvent, now }: LoopParts): Loop {
  const inbox: RunEvent[] = [];
  let failure: { error: unknown } | null = null;
  let wake = () => {};
  let timer: NodeJS.Timeout | undefined;

  const emit: Emit = (news) => {
    inbox.push({ ...news, at: now() } as RunEvent);
    wake();
  };
  const abandon = (error: unknown) => {
    failure ??= { error };
    wake();
  };
  const takeIn = () => {
    for (let event = inbox.shift(); event !== undefined; event = inbox.shift()) {
      record.append(event);
      apply(state, event);
      onEvent(event);
    }
  };
  const start = (decision: Decision) => {
    begin(state, decision);
    perform(decision, emit)
      .catch(abandon)
      .finally(() => {
        // What the verb emitted comes first: else the decision could be made again before its outcome is known.
        takeIn();
        settle(state, decision);
        wake();
      });
  };
  const run = async () => {
    for (;;) {
      takeIn();
      if (failure) throw failure.error;
      const decisions = decide(state, now());
      record.sync();
      for (const decision of decisions) start(decision);
      if (inbox.length > 0) continue;
      if (isOver(state)) return;
      await new Promise<void>((resolve) => {
        wake = resolve;
        // Some decisions are due by the clock alone.
        timer = setTimeout(resolve, TICK_MS);
        if (inbox.length > 0 || failure) resolve();
      });
      clearTimeout(timer);
    }
  };
  const commit: Emit = (news) => {
    emit(news);
    takeIn();
    record.sync();
  };
  return { emit, commit, settle: takeIn, run, abandon };
}
