// Shows a batch that another client follows: the past events of its run, then new ones. Changes nothing.

import path from "node:path";
import { UserError } from "../../errors.js";
import type { RunEvent } from "../../model/event.js";
import { apply } from "../../plan/fold/apply.js";
import type { RunState } from "../../plan/run-state.js";
import { loadRecord } from "../../run/home/record.js";
import type { Results } from "../../run/home/results.js";
import type { Follower } from "./ask-follower.js";
import { type Watched, watchedState } from "./watched-state.js";

export interface Watching {
  readonly follower: Follower;
  readonly results: Results;
  readonly stem: string;
  /** Aborted when the person stops watching. */
  readonly signal: AbortSignal;
  /** Called before anything is shown. */
  readonly open: (watched: Watched) => Promise<Viewer>;
}

interface Viewer {
  show(event: RunEvent, known: { readonly state: RunState; readonly isNews: boolean }): void;
  /** Absent: until the follower ends. */
  readonly isEnough?: ((event: RunEvent) => boolean) | undefined;
}

export type WatchEnding =
  /** The batch is done; the exit code is that of its client. */
  | { readonly kind: "finished"; readonly exitCode: number }
  | { readonly kind: "enough" }
  /** The follower left the batch. */
  | { readonly kind: "left" }
  | { readonly kind: "interrupted" };

/** Throws UserError if the follower ends unexpectedly. */
export async function watchBatch(watching: Watching): Promise<WatchEnding> {
  const { follower, results, stem, signal, open } = watching;
  const record = path.join(results.privateDir, `${stem}.jsonl`);
  const { recordBytes, since, recent } = await follower.watch();
  const watched = watchedOf(loadRecord(record, recordBytes), since, results);
  const viewer = await open(watched);
  let { state } = watched;
  const isLast = (event: RunEvent, isNews: boolean) => {
    viewer.show(event, { state, isNews });
    return viewer.isEnough?.(event) ?? false;
  };
  for (const event of recent) apply(state, event);
  for (const event of [...watched.history, ...recent]) if (isLast(event, true)) return { kind: "enough" };
  for (;;) {
    const answer = await follower.next();
    if (signal.aborted) return { kind: "interrupted" };
    if (answer === null) throw follower.goneError();
    if (answer.kind === "end")
      return answer.exitCode === null ? { kind: "left" } : { kind: "finished", exitCode: answer.exitCode };
    if (answer.kind !== "event") continue;
    const { event, isNews } = answer;
    if (event.kind === "run-started")
      state = watchedOf(upTo(event, loadRecord(record)), since, results).state;
    else apply(state, event);
    if (isLast(event, isNews)) return { kind: "enough" };
  }
}

function watchedOf(events: readonly RunEvent[], since: number, results: Results): Watched {
  const watched = watchedState(events, since, results);
  if (watched === null)
    throw new UserError("the record of the batch cannot be read", { hint: "sshoal status" });
  return watched;
}

/** Later events of the record arrive over the socket. */
function upTo({ at }: RunEvent, events: readonly RunEvent[]): readonly RunEvent[] {
  const start = events.findLastIndex((event) => event.kind === "run-started" && event.at === at);
  return start === -1 ? events : events.slice(0, start + 1);
}
