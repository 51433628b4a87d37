// Keeps facts that are true now and in no record, for later viewers: lost connections, waiting slots, last lines.

import type { JobStarted, RunEvent } from "../../model/event.js";
import type { Capacity } from "../../model/machine.js";

export class RecentNews {
  /** The last event about each thing. */
  readonly #events = new Map<string, RunEvent>();

  /** What each machine had when it was last measured. It is in the record, so watchers need no event for it. */
  readonly capacities = new Map<string, Capacity>();

  get events(): readonly RunEvent[] {
    return [...this.#events.values()];
  }

  note(event: RunEvent): void {
    switch (event.kind) {
      case "run-started":
        return this.#events.clear();
      case "tree-read":
      case "paused":
        return this.#keep(event.kind, event);
      case "continued":
        return this.#forget("paused");
      case "machine-lost":
      case "machine-failed":
        return this.#keep(`link ${event.machine}`, event);
      case "machine-ready":
        this.capacities.set(event.machine, event.capacity);
        return this.#forget(`link ${event.machine}`);
      case "machine-back":
        return this.#forget(`link ${event.machine}`);
      case "machine-draining":
        return this.#keep(`open ${event.machine}`, event);
      case "machine-opened":
        return this.#forget(`open ${event.machine}`);
      case "staging":
      case "staged":
        return this.#keep(`staging ${event.machine}`, event);
      case "collecting":
        return this.#keep(`collecting ${event.machine}`, event);
      case "jobs-arrived":
        return this.#forget(`collecting ${event.machine}`);
      case "slot-waiting":
        return this.#keep(`${slotOf(event)} ${event.job ?? ""}`, event);
      case "job-started":
        return this.#forgetWaiting(event);
      case "job-said":
        return this.#keep(`said ${event.job}`, event);
      case "job-ended":
        return this.#forget(`said ${event.job}`);
      default:
        return;
    }
  }

  #keep(about: string, event: RunEvent): void {
    this.#events.delete(about);
    this.#events.set(about, event);
  }

  /** What the slot reported before it found a job, and what others reported about this job. */
  #forgetWaiting(started: JobStarted): void {
    for (const [about, event] of this.#events) {
      if (event.kind !== "slot-waiting") continue;
      if (slotOf(event) === slotOf(started) || event.job === started.job) this.#forget(about);
    }
  }

  #forget(about: string): void {
    this.#events.delete(about);
  }
}

function slotOf({ machine, slot }: { readonly machine: string; readonly slot: number }): string {
  return `slot ${machine} ${slot}`;
}
