// event -> record -> apply -> decide -> perform, until nothing is left. Prints nothing.

import { setTimeout as sleep } from "node:timers/promises";
import { type Decision, reliesOnRecord, type VerbNews } from "../model/decision.js";
import type { News, RunEvent } from "../model/event.js";
import { crashDue } from "../plan/crashes.js";
import { decide } from "../plan/decide.js";
import { apply } from "../plan/fold/apply.js";
import { haltDue } from "../plan/halt.js";
import { isOver } from "../plan/remaining.js";
import type { RunState } from "../plan/run-state.js";
import { takeStock } from "../plan/stock.js";
import { isOfThisDisk } from "./home/disk-error.js";

/** The loop adds the time. */
export type Emit = (news: News) => void;

const TICK_MS = 250;
const DISK_RETRY_MS = 1000;

export interface LoopParts {
  readonly state: RunState;
  readonly perform: (decision: Decision, emit: Emit) => Promise<void>;
  readonly record: { append(events: readonly RunEvent[]): void; sync(): void };
  /** Called after the event was applied; `isNews` is false if it changed nothing. */
  readonly onEvent: (event: RunEvent, isNews: boolean) => void;
  readonly now: () => number;
}

export interface Loop {
  readonly emit: Emit;
  /** Like emit, but applied at once and safe in the record on return; throws if the disk refuses it. */
  readonly commit: Emit;
  /** Applies the emitted events outside of run(); throws if the disk refuses them. */
  settle(): void;
  /** The same, but retries until it succeeds; rejects as run() does. */
  flush(): Promise<void>;
  /** Resolves when the run is over; rejects on a bug, or if `abandon` was called. */
  run(): Promise<void>;
  /** Ends the loop and changes nothing on machines. */
  abandon(reason: Error): void;
  /** Resolves when no verb is in progress. */
  idle(): Promise<void>;
}

export function makeLoop({ state, perform, record, onEvent, now }: LoopParts): Loop {
  /** In order: the reports of a verb come before its end. */
  let inbox: (RunEvent | VerbNews)[] = [];
  /** How many items of the inbox are applied. Removing the first item each time would cost time in proportion to the rest. */
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
      // An event that cannot be recorded has not happened yet: it stays in the inbox, and so do all later ones.
      record.append(items.filter(isEvent));
      for (const item of items) {
        taken++;
        const isNews = apply(state, item);
        if (isEvent(item)) onEvent(item, isNews);
      }
    }
    inbox = [];
    taken = 0;
    const due = haltDue(state) ?? crashDue(state, now());
    if (due === null) return;
    emit(due);
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
  /** Returns false if the local disk is full or similar; the error was reported then. */
  const isWritten = (what: () => void): boolean => {
    try {
      what();
      stalledBy = "";
      return true;
    } catch (error) {
      if (!isOfThisDisk(error)) throw error;
      const message = `cannot write the record on this computer: ${error.message}; retrying`;
      if (stalledBy !== message) onEvent({ kind: "warning", message, at: now() }, true);
      stalledBy = message;
      return false;
    }
  };
  /** Retries until it succeeds; nothing else happens before. */
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
      // Events that arrived during the wait may change the decision.
      if (inbox.length > 0) continue;
      takeStock(state.stock, now());
      const { news, verbs } = decide(state, now());
      // Syncing the record after every event would take longer than many jobs.
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
        // Some decisions depend only on the clock.
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
