// Leaves a batch that continues by itself: once its machines need no client, or at once.

import type { RunEvent } from "../../model/event.js";
import { isEverySlotSettled, needsNoClient } from "../../plan/remaining.js";
import type { BatchRun } from "../../run/batch-run.js";

/** The client left; jobs that were handed over continue. */
export class Detached extends Error {
  /** Null: the user asked for it, by --detach or a key. */
  readonly signal: string | null;

  constructor(signal: string | null = null) {
    super("detached");
    this.name = "Detached";
    this.signal = signal;
  }
}

/** How long machines may take to begin the jobs: once they have, the record has what `status` shows. */
const BEGIN_MS = 5000;

/** Events after which the client may no longer be needed. */
const MAY_BE_ENOUGH: ReadonlySet<RunEvent["kind"]> = new Set([
  "jobs-handed-over",
  "jobs-taken-back",
  "run-resumed",
  "jobs-complete",
  "job-started",
  "job-ended",
  "slot-waiting",
  "machine-ready",
  "machine-failed",
]);

export class Leaving {
  readonly #run: BatchRun;
  #isAsked: boolean;
  #timer: NodeJS.Timeout | null = null;
  /** By machine: slots that wait for room. */
  readonly #held = new Map<string, Set<number>>();

  /** `isAsked`: from the start. */
  constructor(run: BatchRun, isAsked: boolean) {
    this.#run = run;
    this.#isAsked = isAsked;
  }

  /** Leaves as soon as the machines need no client; asked a second time, at once. */
  ask(): void {
    if (this.#isAsked) return this.leave(null);
    this.#isAsked = true;
    this.#look();
  }

  leave(signal: string | null): void {
    this.#run.abandon(new Detached(signal));
  }

  note(event: RunEvent): void {
    if (event.kind === "slot-waiting") this.#heldOn(event.machine).add(event.slot);
    if (event.kind === "job-started") this.#held.get(event.machine)?.delete(event.slot);
    if (this.#isAsked && MAY_BE_ENOUGH.has(event.kind)) this.#look();
  }

  #heldOn(machine: string): Set<number> {
    const slots = this.#held.get(machine) ?? new Set();
    this.#held.set(machine, slots);
    return slots;
  }

  #look(): void {
    const { state } = this.#run;
    if (!needsNoClient(state)) return;
    if (isEverySlotSettled(state, (machine) => this.#held.get(machine)?.size ?? 0)) return this.leave(null);
    this.#timer ??= setTimeout(() => this.#waitNoMore(), BEGIN_MS).unref();
  }

  #waitNoMore(): void {
    this.#timer = null;
    if (needsNoClient(this.#run.state)) this.leave(null);
  }
}
