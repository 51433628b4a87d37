// The jobs of a generation that are not over, and how many of them have not begun.

import type { Job, JobId } from "../../model/job.js";
import { queuePriority } from "../../model/queue-priority.js";
import { type Ahead, isBefore } from "../../plan/queue/choose-next.js";

export interface GivenJob {
  readonly job: Job;
  /** Jobs of one kind have the same need. */
  readonly kind: string;
  /** Its variables. */
  readonly env: Readonly<Record<string, string>>;
}

export class GivenJobs {
  readonly #jobs = new Map<JobId, { readonly given: GivenJob; hasBegun: boolean }>();
  readonly #byKind = new Map<string, number>();
  #unbegun = 0;
  #given = 0;

  /** How many jobs it ever had. */
  get given(): number {
    return this.#given;
  }

  get isEmpty(): boolean {
    return this.#jobs.size === 0;
  }

  get runningCount(): number {
    return this.#jobs.size - this.#unbegun;
  }

  get ahead(): Ahead {
    return { total: this.#unbegun, byKind: this.#byKind, last: this.#lastUnbegun() };
  }

  #lastUnbegun(): Ahead["last"] {
    let last: Ahead["last"] = null;
    for (const { given, hasBegun } of this.#jobs.values()) {
      if (hasBegun) continue;
      const one = { id: given.job.id, priority: queuePriority(given.job) };
      if (last === null || isBefore(last, one)) last = one;
    }
    return last;
  }

  has(id: JobId): boolean {
    return this.#jobs.has(id);
  }

  hasBegun(id: JobId): boolean {
    return this.#jobs.get(id)?.hasBegun ?? false;
  }

  /** A copy, because a job that ends leaves. */
  list(): (readonly [JobId, { readonly hasBegun: boolean }])[] {
    return [...this.#jobs];
  }

  add(given: GivenJob): void {
    if (this.#jobs.has(given.job.id)) return;
    this.#given++;
    this.#jobs.set(given.job.id, { given, hasBegun: false });
    this.#count(given, 1);
  }

  begin(id: JobId): void {
    const open = this.#jobs.get(id);
    if (open === undefined || open.hasBegun) return;
    open.hasBegun = true;
    this.#count(open.given, -1);
  }

  close(id: JobId): void {
    this.begin(id);
    this.#jobs.delete(id);
  }

  #count({ kind }: GivenJob, change: 1 | -1): void {
    const count = (this.#byKind.get(kind) ?? 0) + change;
    if (count === 0) this.#byKind.delete(kind);
    else this.#byKind.set(kind, count);
    this.#unbegun += change;
  }
}
