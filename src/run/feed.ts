// Jobs that arrive while the batch runs: which jobs of an earlier client continue, and which arriving jobs are new.

import type { FeedPosition } from "../model/batch.js";
import type { Fate } from "../model/batch-state.js";
import type { AskedDependency } from "../model/dependency.js";
import type { Job, JobId, Outcome } from "../model/job.js";
import { outcomeAtHome } from "../model/standing.js";
import { Arrivals } from "../plan/arrivals.js";
import { arrivedDependencies } from "../plan/arrived-dependencies.js";
import type { Past } from "../plan/fold/read-past.js";
import type { RunState } from "../plan/run-state.js";
import type { Results } from "./home/results.js";
import { isToRerun, type Rerun } from "./rerun.js";

export interface FeedOrder {
  /** The prefix for the names of jobs. */
  readonly stem: string;
  /** True if the jobs arrive from the start again, as from stdin. False for a followed file, which continues. */
  readonly startsOver: boolean;
}

/** A job before it has an id. */
export interface Arrival {
  /** The line at which it begins in the input. */
  readonly line: number;
  readonly command: string;
  /** Absent: those of the batch. */
  readonly own?: OwnTerms;
}

/** What one job has of its own. */
export interface OwnTerms {
  readonly job: Partial<Omit<Job, "id" | "line" | "name" | "command">>;
  /** The place of its own name: `queue:7`. Absent: it has none. */
  readonly namedAt?: string;
  /** Jobs that it comes after; absent: none. */
  readonly after?: readonly AskedDependency[];
  /** The values may be secrets, and are not part of the job. Absent: the variables of the batch. */
  readonly env?: Readonly<Record<string, string>>;
}

export interface Taken {
  /** Jobs that are new in this run. */
  readonly jobs: readonly Job[];
  /** Of the jobs that have variables of their own. */
  readonly env: ReadonlyMap<JobId, Readonly<Record<string, string>>>;
  /** Arrivals that are no jobs: their names are taken, or they come after unknown jobs. */
  readonly refused: readonly { readonly line: number; readonly reason: string }[];
  /** The ones of them that an earlier run has done. */
  readonly done: readonly { readonly id: JobId; readonly outcome: Outcome }[];
}

export interface FeedParts {
  readonly order: FeedOrder;
  readonly past: Past | null;
  /** The state after the record was replayed. */
  readonly state: RunState;
  readonly results: Results;
  readonly rerun: Rerun;
}

export class Feed {
  /** Jobs that continue before anything arrives. */
  readonly given: readonly Job[];
  readonly position: FeedPosition | null;
  readonly #arrivals: Arrivals;
  readonly #outcomes = new Map<JobId, Outcome>();
  readonly #parts: FeedParts;
  /** The jobs of this batch, by their names. */
  readonly #named: Map<string, JobId>;

  constructor(parts: FeedParts) {
    const { order, past, state, rerun } = parts;
    const last = (order.startsOver ? past?.pile.jobs : past?.lastJobs) ?? [];
    for (const id of order.startsOver ? last.map((job) => job.id) : (past?.jobs.keys() ?? [])) {
      const tracked = state.jobs.get(id);
      const outcome = tracked && outcomeAtHome(tracked);
      if (outcome) this.#outcomes.set(id, outcome);
    }
    const open = last.filter(({ id }) => !this.#outcomes.has(id));
    const isWaiting = ({ id }: Job) => isUnbegunHere(state.jobs.get(id)?.fate.kind);
    // A job that has not begun arrives again from the new input. If it does not, it is no longer wanted.
    this.given = order.startsOver ? open.filter((job) => !isWaiting(job)) : open;
    const goesOn =
      open.some(({ id }) => !state.leftOut.has(id)) ||
      past?.pile.isDone === false ||
      !(rerun === "none" || rerun === "stopped");
    const known = order.startsOver && goesOn ? last : [];
    let highest = 0;
    for (const id of past?.jobs.keys() ?? []) highest = Math.max(highest, id);
    const base = order.startsOver && known.length === 0 ? highest : 0;
    this.#arrivals = new Arrivals({ known, highest, base });
    this.position = order.startsOver ? null : (past?.position ?? null);
    this.#parts = parts;
    const earlier = order.startsOver ? known : [...(past?.jobs.values() ?? [])];
    this.#named = new Map([...earlier, ...this.given].map(({ name, id }) => [name, id]));
  }

  /** Moves the results of jobs aside that will run again. */
  take(arrivals: readonly Arrival[]): Taken {
    const { order, state, results, rerun } = this.#parts;
    const jobs: Job[] = [];
    const env = new Map<JobId, Readonly<Record<string, string>>>();
    const done: { id: JobId; outcome: Outcome }[] = [];
    const refused: { line: number; reason: string }[] = [];
    const nameOf = (id: JobId, label?: string) => `${order.stem}.${label ?? id}`;
    const taken = new Set<JobId>();
    const arrived = {
      idOf: (word: string) => this.#named.get(`${order.stem}.${word}`),
      isHere: (id: JobId) => state.jobs.has(id) || taken.has(id),
      outcomeOf: (id: JobId) => this.#outcomes.get(id),
    };
    for (const { command, line, own } of arrivals) {
      const id = this.#arrivals.number(command, line, (number) => results.has(nameOf(number)));
      if (state.jobs.has(id)) continue;
      const name = nameOf(id, own?.job.label);
      if ((this.#named.get(name) ?? id) !== id) {
        refused.push({ line, reason: `${own?.namedAt}: the name ${own?.job.label} is taken` });
        continue;
      }
      const dependsOn = arrivedDependencies(own?.after ?? [], arrived);
      if (typeof dependsOn === "string") {
        refused.push({ line, reason: dependsOn });
        continue;
      }
      this.#named.set(name, id);
      taken.add(id);
      jobs.push({ id, line, name, command, ...own?.job, ...(dependsOn.length > 0 && { dependsOn }) });
      if (own?.env !== undefined) env.set(id, own.env);
      const outcome = this.#outcomes.get(id);
      if (!results.has(name)) continue;
      // The results of an earlier batch may have this name.
      const isOlder = outcome === undefined && own?.namedAt !== undefined;
      if (isOlder || (outcome && isToRerun(rerun, id, outcome))) results.moveAside(name);
      else if (outcome) done.push({ id, outcome });
    }
    return { jobs, env, done, refused };
  }
}

/** At the client, or skipped because of other jobs. */
function isUnbegunHere(kind: Fate["kind"] | undefined): boolean {
  return kind === "waiting" || kind === "stopped" || kind === "blocked" || kind === "unneeded";
}
