// Runs the command of a notice while a client follows the batch: at its end, or when its first job fails. At most once, also if the
// client is killed: the notice is taken away before its command is run.

import type { BatchState } from "../../model/batch-state.js";
import type { RunEvent } from "../../model/event.js";
import type { Notice, NoticeFacts } from "../../model/notice.js";
import { dueOf, factsOf, hasFailed, isAtEnd } from "./notice-due.js";
import type { NoticeStore, StoredNotice } from "./notice-store.js";

/** Never rejects: a command that fails is no reason to fail. */
export type SendNotice = (command: string, facts: NoticeFacts) => Promise<void>;

export interface NotifierParts {
  readonly store: NoticeStore;
  /** What this client was asked for; null: nothing, and what an earlier one was asked for counts. */
  readonly asked: Notice | null;
  readonly directory: string;
  readonly stem: string;
  readonly send: SendNotice;
}

export class Notifier {
  readonly #parts: NotifierParts;
  readonly #sendings: Promise<void>[] = [];
  #batch = "";
  #isArmed = false;
  /** Where it could not be kept on disk. */
  #held: StoredNotice | null = null;

  constructor(parts: NotifierParts) {
    this.#parts = parts;
  }

  /** It was asked for, and a client that comes later does not know of it. */
  get isForgetful(): boolean {
    return this.#held !== null;
  }

  /** After each event of the run. */
  note(event: RunEvent, state: BatchState): void {
    switch (event.kind) {
      case "run-started":
        this.#batch = event.batch;
        if (this.#parts.asked?.command === "") this.#parts.store.drop();
        return;
      case "job-skipped":
      case "warning":
        return;
      case "job-collected":
      case "job-stuck":
        this.#arm(event, state);
        return this.#noteEnded(event, state);
      case "run-ended":
        return this.#noteOver(event.at, state);
      default:
        return this.#arm(event, state);
    }
  }

  /** Resolves when all that was due has been run. */
  async settle(): Promise<void> {
    await Promise.all(this.#sendings);
  }

  /** Once there is something to do: a batch that is done does not end a second time. */
  #arm({ at }: RunEvent, { tally }: BatchState): void {
    if (this.#isArmed || tally.waiting + tally.running + tally.ended + tally.unknown === 0) return;
    this.#isArmed = true;
    const { asked, store } = this.#parts;
    if (asked === null || asked.command === "") return;
    if (!store.save(asked, at)) this.#held = { ...asked, since: at };
  }

  #noteEnded({ job, at }: RunEvent & { job: number }, state: BatchState): void {
    const tracked = state.jobs.get(job);
    if (tracked === undefined || !hasFailed(tracked, { isFollowed: true }, 0)) return;
    if ((this.#held ?? this.#parts.store.load())?.on === "failure") this.#send("failure", state, at);
  }

  #noteOver(at: number, state: BatchState): void {
    const notice = this.#held ?? this.#parts.store.load();
    if (notice === null || !isAtEnd(state)) return;
    if (!isAnyTried(state)) return this.#parts.store.drop();
    const due = dueOf(notice, { state, isFollowed: true, isOver: true });
    if (due === "due") this.#send(notice.on, state, at);
    else this.#take();
  }

  #send(on: Notice["on"], state: BatchState, at: number): void {
    const notice = this.#take();
    if (notice === null) return;
    const { directory, stem, send } = this.#parts;
    const facts = factsOf({ on, batch: this.#batch, stem, directory }, state, at);
    this.#sendings.push(send(notice.command, facts));
  }

  #take(): StoredNotice | null {
    const held = this.#held;
    this.#held = null;
    return held ?? this.#parts.store.claim();
  }
}

/** Without a machine nothing was begun: the person who typed the command reads why. */
function isAnyTried({ jobs }: BatchState): boolean {
  for (const { lastNumber } of jobs.values()) if (lastNumber > 0) return true;
  return false;
}
