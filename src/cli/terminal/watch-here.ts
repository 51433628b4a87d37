// Shows a batch that another client follows on this terminal. Ctrl-C stops watching, not the batch.

import type { Follower } from "../../batch/follower/ask-follower.js";
import { type WatchEnding, watchBatch } from "../../batch/follower/watch-batch.js";
import type { Watched } from "../../batch/follower/watched-state.js";
import { ExitCode } from "../../errors.js";
import type { RunEvent } from "../../model/event.js";
import type { Reporter } from "../../report/reporter.js";
import type { Results } from "../../run/home/results.js";
import { onEndingSignals } from "./ending-signals.js";
import { note } from "./note.js";
import { openReporter } from "./open-reporter.js";
import type { ReporterChoice } from "./reporters.js";
import { TerminalHold } from "./terminal-hold.js";

export interface WatchingHere {
  readonly follower: Follower;
  readonly results: Results;
  readonly stem: string;
  readonly options: ReporterChoice;
  /** True: leave with success. Absent: until the follower ends. */
  readonly isEnough?: (event: RunEvent) => boolean;
}

export async function watchHere(watching: WatchingHere): Promise<number> {
  const { follower, results, stem, options, isEnough } = watching;
  const leaving = new AbortController();
  const leave = () => {
    leaving.abort();
    follower.close();
  };
  const unlisten = onEndingSignals(leave);
  let reporter: Reporter | null = null;
  let hold: TerminalHold | null = null;
  const open = async ({ started: { machines, settings } }: Watched) => {
    const names = machines.map(({ name }) => name);
    const opened = await openReporter(options, {
      machines: names,
      requirement: settings.requirement,
      results,
    });
    reporter = opened;
    const { live } = opened;
    if (live) hold = new TerminalHold({ view: live, keys: null, otherwise: "watching" });
    return { show: opened.show, isEnough };
  };
  try {
    const ending = await watchBatch({ follower, results, stem, signal: leaving.signal, open });
    closeReporter(reporter, ending.kind !== "finished");
    return codeOf(ending, follower);
  } finally {
    letGo(hold);
    closeReporter(reporter, true);
    unlisten();
    follower.close();
  }
}

function letGo(hold: TerminalHold | null): void {
  hold?.close();
}

/** May be called again. `isLeft`: the batch continues. */
function closeReporter(reporter: Reporter | null, isLeft: boolean): void {
  reporter?.close(isLeft);
}

function codeOf(ending: WatchEnding, { pid }: Follower): number {
  switch (ending.kind) {
    case "finished":
      return ending.exitCode;
    case "enough":
      return ExitCode.Success;
    case "left":
      note(`process ${pid} has left the batch; jobs continue, and sshoal attach follows them`);
      return ExitCode.Success;
    case "interrupted":
      note(`process ${pid} still follows the batch`);
      return ExitCode.Interrupted;
    default:
      return ending satisfies never;
  }
}
