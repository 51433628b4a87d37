// event -> record -> apply -> decide -> perform, until nothing is left. Prints nothing.

import { setTimeout as sleep } from "node:timers/promises";
import type { RunEvent } from "../model/event.js";
import { begin, type Decision, decide, isOver, reliesOnRecord, settle } from "../plan/decide.js";
import { haltDue } from "../plan/halt.js";
import type { RunState } from "../plan/run-state.js";
import { apply } from "../plan/state.js";
import { isOfThisDisk } from "./disk-error.js";

/** An event as whoever saw it tells it; the loop adds when. */
export type News = RunEvent extends infer Event ? (Event extends unknown ? Omit<Event, "at"> : never) : never;
export type Emit = (news: News) => void;

const TICK_MS = 250;
const DISK_RETRY_MS = 1000;

export interface LoopParts {
  readonly state: RunState;
  readonly perform: (decision: Decision, emit: Emit) => Promise<void>;
  readonly record: { append(events: readonly RunEvent[]): void; sync(): void };
  readonly onEvent: (event: RunEvent) => void;
  readonly now: () => number;
}

export interface Loop {
  readonly emit: Emit;
  /** Like emit, but taken in at once and safe in the record on return; throws when the disk does not take it. */
  readonly commit: Emit;
  /** Takes in what was emitted so far, outside of run(); throws when the disk does not take it. */
  settle(): void;
  /** The same, for as long as it takes; rejects as run() does. */
  flush(): Promise<void>;
  /** Resolves when the run is over; rejects on a bug, or when `abandon` was called. */
  run(): Promise<void>;
  /** Leaves everything as it is over there. */
  abandon(reason: Error): void;
  /** Resolves when no verb is under way. */
  idle(): Promise<void>;
}

/** What is waiting to be taken in, in order: what a verb tells comes before that it is done. */
type Item = { readonly event: RunEvent } | { readonly done: Decision };

export function makeLoop({ state, perform, record, onEvent, now }: LoopParts): Loop {
  let inbox: Item[] = [];
  /** Up to here the inbox is taken in: removing its first item again and again would cost what is left in it. */
  let taken = 0;
  const underWay = new Set<Promise<void>>();
  let failure: { error: unknown } | null = null;
  let stalledBy = "";
  let wake = () => {};
  let timer: NodeJS.Timeout | undefined;

  const put = (item: Item) => {
    inbox.push(item);
    wake();
  };
  const emit: Emit = (news) => put({ event: { ...news, at: now() } as RunEvent });
  const abandon = (error: unknown) => {
    failure ??= { error };
    wake();
  };
  const takeIn = () => {
    while (taken < inbox.length) {
      const items = inbox.slice(taken);
      // What cannot be recorded has not happened yet: it stays, and so does all that came after it.
      record.append(items.flatMap((item) => ("event" in item ? [item.event] : [])));
      for (const item of items) {
        taken++;
        if ("done" in item) settle(state, item.done, now());
        else {
          apply(state, item.event);
          onEvent(item.event);
        }
      }
    }
    inbox = [];
    taken = 0;
    const halt = haltDue(state);
    if (halt === null) return;
    emit(halt);
    takeIn();
  };
  const start = (decision: Decision) => {
    begin(state, decision);
    const performing = perform(decision, emit)
      .catch(abandon)
      .finally(() => {
        underWay.delete(performing);
        put({ done: decision });
      });
    underWay.add(performing);
  };
  /** False: this computer's disk is full or the like, and has been said to be. */
  const isWritten = (what: () => void): boolean => {
    try {
      what();
      stalledBy = "";
      return true;
    } catch (error) {
      if (!isOfThisDisk(error)) throw error;
      const message = `the record cannot be written here: ${error.message}; trying again until it can`;
      if (stalledBy !== message) onEvent({ kind: "warning", message, at: now() });
      stalledBy = message;
      return false;
    }
  };
  /** For as long as it takes: nothing goes on before. */
  const write = async (what: () => void) => {
    while (!failure && !isWritten(what)) await sleep(DISK_RETRY_MS);
    if (failure) throw failure.error;
  };
  const flush = () =>
    write(() => {
      takeIn();
      record.sync();
    });
  const run = async () => {
    for (;;) {
      await write(takeIn);
      const decisions = decide(state, now());
      // To make every event safe at once would take longer than many a job.
      if (decisions.some(reliesOnRecord) && !isWritten(() => record.sync())) {
        await sleep(DISK_RETRY_MS);
        continue;
      }
      for (const decision of decisions) start(decision);
      if (inbox.length > 0) continue;
      if (isOver(state, now())) return;
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
  const idle = async () => {
    while (underWay.size > 0) await Promise.all(underWay);
  };
  return { emit, commit, settle: takeIn, flush, run, abandon, idle };
}
