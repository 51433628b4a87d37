// Leaves a batch that goes on by itself: once its machines need no client, or at once.

import type { RunEvent } from "../model/event.js";
import { isEverySlotSettled, needsNoClient } from "../plan/remaining.js";
import type { BatchRun } from "../run/batch-run.js";

/** The client left; what was handed over goes on. */
export class Detached extends Error {
  /** Null: it was asked to, by --detach or a key. */
  readonly signal: string | null;

  constructor(signal: string | null = null) {
    super("detached");
    this.name = "Detached";
    this.signal = signal;
  }
}

/** How long machines may take to begin what they were handed: once they have, the record has what `status` shows. */
const BEGIN_MS = 5000;

/** Events after which a client may be needed no more. */
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

  /** `isAsked`: from the beginning. */
  constructor(run: BatchRun, isAsked: boolean) {
    this.#run = run;
    this.#isAsked = isAsked;
  }

  /** As soon as the machines need no client; asked a second time, at once. */
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
