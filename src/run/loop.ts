// event -> record -> apply -> decide -> perform, until nothing is left. Prints nothing.

import { setTimeout as sleep } from "node:timers/promises";
import { type Decision, reliesOnRecord, type VerbNews } from "../model/decision.js";
import type { News, RunEvent } from "../model/event.js";
import { decide } from "../plan/decide.js";
import { apply } from "../plan/fold/apply.js";
import { haltDue } from "../plan/halt.js";
import { isOver } from "../plan/remaining.js";
import type { RunState } from "../plan/run-state.js";
import { takeStock } from "../plan/stock.js";
import { isOfThisDisk } from "./home/disk-error.js";

/** The loop adds when it happened. */
export type Emit = (news: News) => void;

const TICK_MS = 250;
const DISK_RETRY_MS = 1000;

export interface LoopParts {
  readonly state: RunState;
  readonly perform: (decision: Decision, emit: Emit) => Promise<void>;
  readonly record: { append(events: readonly RunEvent[]): void; sync(): void };
  /** After it was applied; `isNews` is false for what was known before. */
  readonly onEvent: (event: RunEvent, isNews: boolean) => void;
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

export function makeLoop({ state, perform, record, onEvent, now }: LoopParts): Loop {
  /** In order: what a verb reports comes before its end. */
  let inbox: (RunEvent | VerbNews)[] = [];
  /** Up to here the inbox is taken in: removing its first item again and again would cost what is left in it. */
  let taken = 0;
  const underWay = new Set<Promise<void>>();
  let failure: { error: unknown } | null = null;
  let stalledBy = "";
  let wake = () => {};
  let timer: NodeJS.Timeout | undefined;

  const put = (item: RunEvent | VerbNews) => {
    inbox.push(item);
    wake();
  };
  const emit: Emit = (news) => put({ ...news, at: now() } as RunEvent);
  const abandon = (error: unknown) => {
    failure ??= { error };
    wake();
  };
  const takeIn = () => {
    while (taken < inbox.length) {
      const items = inbox.slice(taken);
      // What cannot be recorded has not happened yet: it stays, and so does all that came after it.
      record.append(items.filter(isEvent));
      for (const item of items) {
        taken++;
        const isNews = apply(state, item);
        if (isEvent(item)) onEvent(item, isNews);
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
    apply(state, { kind: "verb-begun", decision, at: now() });
    const performing = perform(decision, emit)
      .catch(abandon)
      .finally(() => {
        underWay.delete(performing);
        put({ kind: "verb-ended", decision, at: now() });
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
      if (stalledBy !== message) onEvent({ kind: "warning", message, at: now() }, true);
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
      // What came during the wait may undo the reason for a decision.
      if (inbox.length > 0) continue;
      takeStock(state.stock, now());
      const { news, verbs } = decide(state, now());
      // To make every event safe at once would take longer than many a job.
      if (verbs.some(reliesOnRecord) && !isWritten(() => record.sync())) {
        await sleep(DISK_RETRY_MS);
        continue;
      }
      for (const each of news) emit(each);
      for (const decision of verbs) start(decision);
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

function isEvent(item: RunEvent | VerbNews): item is RunEvent {
  return item.kind !== "verb-begun" && item.kind !== "verb-ended";
}
