// Ctrl-C once: no new jobs. Twice: running jobs are stopped and collected. Hang-up and TERM: leave, jobs continue.
// USR1: no new jobs until USR2.

import type { Steering } from "../../batch/follow/steering.js";

/** Returns a function that stops listening. */
export function listenForSignals(steering: Steering): () => void {
  const onInterrupt = () => steering.interrupt();
  const onLeave = (signal: string) => steering.leave(signal);
  const onPause = () => steering.pause();
  const onContinue = () => steering.unpause();
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
