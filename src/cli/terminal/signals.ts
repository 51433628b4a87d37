// Ctrl-C once: no new jobs. Twice: running jobs are stopped and collected. Hang-up and TERM: leave, jobs go on.
// USR1: no new jobs until USR2.

import { Detached } from "../../batch/follow-batch.js";
import type { BatchRun } from "../../run/batch-run.js";

/** Returns how to stop listening. */
export function listenForSignals(run: BatchRun): () => void {
  let presses = 0;
  const onInterrupt = () => {
    presses++;
    if (presses === 1) run.emit({ kind: "interrupted", mode: "drain" });
    else if (presses === 2) run.emit({ kind: "interrupted", mode: "stop" });
    else run.abandon(new Detached("SIGINT"));
  };
  let isPaused = false;
  const onPause = () => {
    if (!isPaused) run.emit({ kind: "paused", pid: process.pid });
    isPaused = true;
  };
  const onContinue = () => {
    if (isPaused) run.emit({ kind: "continued" });
    isPaused = false;
  };
  const onLeave = (signal: string) => run.abandon(new Detached(signal));
  process.on("SIGINT", onInterrupt);
  process.on("SIGTERM", onLeave);
  process.on("SIGHUP", onLeave);
  process.on("SIGUSR1", onPause);
  process.on("SIGUSR2", onContinue);
  return () => {
    process.off("SIGINT", onInterrupt);
    process.off("SIGTERM", onLeave);
    process.off("SIGHUP", onLeave);
    process.off("SIGUSR1", onPause);
    process.off("SIGUSR2", onContinue);
  };
}
