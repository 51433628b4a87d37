// Steers a batch while it is followed: no new jobs, stop, continue, pause, leave. Signals and keys both end up here.

import { UserError } from "../../errors.js";
import type { RunEvent } from "../../model/event.js";
import { canContinue, hasItsMachines } from "../../plan/halt.js";
import type { FollowedRun } from "./followed-run.js";
import { Leaving } from "./leaving.js";

export type Interrupted = "no" | "drain" | "stop";

export class Steering {
  readonly #run: FollowedRun;
  readonly #leaving: Leaving;
  readonly #pid: number;
  #interrupted: Interrupted = "no";
  #isPaused = false;
  #beginsAnew = false;

  /** `pid`: of this client, for people who want to continue it. */
  constructor(run: FollowedRun, { detaches, pid }: { detaches: boolean; pid: number }) {
    this.#run = run;
    this.#pid = pid;
    this.#leaving = new Leaving(run, detaches);
  }

  get interrupted(): Interrupted {
    return this.#interrupted;
  }

  get isPaused(): boolean {
    return this.#isPaused;
  }

  /** Ctrl-C: once drains, twice stops, the third time leaves. */
  interrupt(): void {
    if (this.#interrupted === "no") this.drain();
    else if (this.#interrupted === "drain") this.stop();
    else this.leave("SIGINT");
  }

  drain(): void {
    if (this.#interrupted !== "no") return;
    this.#interrupted = "drain";
    this.#run.emit({ kind: "interrupted", mode: "drain" });
  }

  stop(): void {
    if (this.#interrupted === "stop") return;
    this.#interrupted = "stop";
    this.#run.emit({ kind: "interrupted", mode: "stop" });
  }

  /**
   * Ends a pause or a drain. A drain: too late once machines are finished. If machines are missing, as in a client that only follows, the
   * run begins again.
   */
  continue(): void {
    const { state } = this.#run;
    if (this.#interrupted === "no") return this.unpause();
    if (!canContinue(state)) return;
    this.#beginsAnew = !hasItsMachines(state);
    this.#interrupted = "no";
    this.#run.emit({ kind: "continued", from: "drain" });
  }

  pause(): void {
    if (!this.#isPaused) this.#run.emit({ kind: "paused", pid: this.#pid });
    this.#isPaused = true;
  }

  unpause(): void {
    if (this.#isPaused) this.#run.emit({ kind: "continued" });
    this.#isPaused = false;
  }

  /** Once the machines have all jobs; a second time: at once. */
  detach(): void {
    this.#leaving.ask();
  }

  leave(signal: string): void {
    this.#leaving.leave(signal);
  }

  /** Call it after every event of the run, because `sshoal stop` also interrupts it. */
  note(event: RunEvent): void {
    if (event.kind === "interrupted" && this.#interrupted !== "stop") this.#interrupted = event.mode;
    if (event.kind === "same-crash" && event.action === "pause") this.pause();
    if (event.kind === "continued" && event.from === "drain") this.#noteContinued();
    this.#leaving.note(event);
  }

  #noteContinued(): void {
    this.#interrupted = "no";
    if (!this.#beginsAnew) return;
    this.#beginsAnew = false;
    this.#run.runAgain("none").catch((error: unknown) => {
      if (!(error instanceof UserError)) return this.#run.abandon(error as Error);
      this.#run.emit({ kind: "warning", message: `no new jobs: ${error.message}; try: ${error.hint}` });
      this.drain();
    });
  }
}
