// The jobs that are waited for and have not ended, in a batch that no client follows; and why some will not end by themselves.

import type { Attempt } from "../../model/attempt.js";
import { attemptKey, parseAttemptKey } from "../../model/attempt-key.js";
import type { JobId } from "../../model/job.js";
import type { SpoolEvent } from "../../remote/spool/spool-event.js";
import type { BatchHere } from "../find/batches-here.js";
import { foldLog } from "../find/refresh.js";
import { endOf } from "./job-end.js";

const NO_CLIENT = "no client follows the batch";
const NO_MACHINE = "no machine can ever meet the need";

export class OpenJobs {
  readonly #here: Pick<BatchHere, "state">;
  readonly #open: Set<JobId>;
  readonly #reasons = new Map<JobId, string>();

  constructor(here: Pick<BatchHere, "state">, jobs: readonly JobId[]) {
    this.#here = here;
    this.#open = new Set(jobs.filter((id) => this.#isOpen(id)));
    for (const id of this.#open) {
      if (this.#attemptOf(id) !== null) continue;
      this.#reasons.set(id, here.state.leftOut.has(id) ? NO_MACHINE : NO_CLIENT);
    }
  }

  /** Every job has ended, or will not. */
  get isSettled(): boolean {
    return this.#reasons.size === this.#open.size;
  }

  /** Of the jobs that are still open. */
  get reasons(): ReadonlyMap<JobId, string> {
    return this.#reasons;
  }

  /** The machines that have them, and of each the keys of attempts that may not have arrived there. */
  get places(): ReadonlyMap<string, readonly string[]> {
    const places = new Map<string, string[]>();
    for (const id of this.#open) {
      const attempt = this.#attemptOf(id);
      if (attempt === null) continue;
      const sent = places.get(attempt.machine) ?? [];
      places.set(attempt.machine, sent);
      if (attempt.stage.kind === "sent") sent.push(attemptKey(attempt));
    }
    return places;
  }

  /** What a machine's logs say. */
  take(machine: string, events: readonly SpoolEvent[]): void {
    foldLog(this.#here, machine, events);
    for (const event of events) {
      if (event.kind !== "ended") continue;
      const { job } = parseAttemptKey(event.key);
      if (!this.#isOpen(job) && this.#open.delete(job)) this.#reasons.delete(job);
    }
  }

  /** These attempts are not on this machine, and will not begin there. A later attempt of the same job is another matter. */
  noteMissing(machine: string, keys: readonly string[]): void {
    for (const key of keys) {
      const { job, attempt: number } = parseAttemptKey(key);
      const attempt = this.#attemptOf(job);
      if (attempt?.machine === machine && attempt.number === number) this.#giveUp(job, NO_CLIENT);
    }
  }

  /** Nothing more happens on this machine. */
  giveUp(machine: string, reason: string): void {
    for (const id of this.#open) if (this.#attemptOf(id)?.machine === machine) this.#giveUp(id, reason);
  }

  #giveUp(id: JobId, reason: string): void {
    if (this.#open.has(id) && !this.#reasons.has(id)) this.#reasons.set(id, reason);
  }

  #isOpen(id: JobId): boolean {
    const tracked = this.#here.state.jobs.get(id);
    return tracked !== undefined && endOf(tracked, false) === null;
  }

  #attemptOf(id: JobId): Attempt | null {
    const fate = this.#here.state.jobs.get(id)?.fate;
    return fate?.kind === "tried" ? fate : null;
  }
}
