// Steers a batch while it is followed: no new jobs, stop, continue, pause, leave. Signals and keys come to the same here.

import type { RunEvent } from "../model/event.js";
import { canContinue } from "../plan/halt.js";
import type { BatchRun } from "../run/batch-run.js";
import { Leaving } from "./leaving.js";

export type Interrupted = "no" | "drain" | "stop";

export class Steering {
  readonly #run: BatchRun;
  readonly #leaving: Leaving;
  #interrupted: Interrupted = "no";
  #isPaused = false;

  constructor(run: BatchRun, detaches: boolean) {
    this.#run = run;
    this.#leaving = new Leaving(run, detaches);
  }

  get interrupted(): Interrupted {
    return this.#interrupted;
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

  /** Ends a drain. Too late once the machines are being left. */
  continue(): void {
    if (!canContinue(this.#run.state)) return;
    this.#interrupted = "no";
    this.#run.emit({ kind: "continued", from: "drain" });
  }

  pause(pid: number): void {
    if (!this.#isPaused) this.#run.emit({ kind: "paused", pid });
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

  /** After every event of the run: `sshoal stop` interrupts it, too. */
  note(event: RunEvent): void {
    if (event.kind === "interrupted" && this.#interrupted !== "stop") this.#interrupted = event.mode;
    if (event.kind === "continued" && event.from === "drain") this.#interrupted = "no";
    this.#leaving.note(event);
  }
}
