// The nouns of the queue service: queues, and the jobs in them. A job of a queue is named QUEUE/ID.

import type { Footprint } from "./footprint.js";
import type { Dependency, JobId, Outcome, Requirement } from "./job.js";
import type { OutputLimit } from "./output-limit.js";
import type { JobWord } from "./standing.js";
import type { Wrap } from "./wrapper.js";

/** The queue that always exists. */
export const DEFAULT_QUEUE = "default";

/** A name without `/` that can be a directory, and is no number, which would name a job. */
export function isQueueName(name: string): boolean {
  return /^[A-Za-z][\w.-]{0,62}$/.test(name);
}

/** What a queue was created with. */
export interface QueueSpec {
  readonly name: string;
  /** What each of its machines has besides what is measured: by resource, how much each instance has. Null: nothing. */
  readonly capacity: Capacities | null;
  /** Machines that join run its jobs, and no other one. Absent: also this computer, or `machines`. */
  readonly joinedOnly?: boolean;
  /** As typed; empty: this computer. */
  readonly machines: readonly string[];
  /** For jobs that are enqueued from elsewhere without a directory of their own; null: that of the enqueuing shell. */
  readonly cwd: string | null;
  /** Words before the words of each command; empty: none. Jobs then run without a shell. */
  readonly prefix: readonly string[];
  /** Variables for all jobs. Their values are secrets, and are kept apart. */
  readonly envNames: readonly string[];
  /** The most jobs that run at a time; null: as many as there is room for. */
  readonly maxJobs: number | null;
  /** How many jobs each slot has ahead; null: about a second of work. */
  readonly ahead: number | "all" | null;
  /** Run when the queue has become empty; null: nothing. */
  readonly notify: string | null;
}

export type Capacities = Readonly<Record<string, Readonly<Record<string, number>>>>;

/** A machine that has dialled in. The queue remembers it while it is away. */
export interface JoinedMachine {
  readonly name: string;
  /** What it has besides what is measured; null: what the queue declares. */
  readonly capacity: Capacities | null;
}

/** What the record keeps of a queue. */
export type KeptQueue = QueueSpec & Partial<Pick<Queue, "joined" | "pool" | "alsoHere">>;

export interface Queue extends QueueSpec {
  /** The queue that declared the capacity, if several share it; absent: this one. */
  readonly pool?: string;
  /** This computer runs its jobs besides `machines`. Absent: only if there are none. */
  readonly alsoHere?: boolean;
  readonly joined: readonly JoinedMachine[];
  readonly isPaused: boolean;
  readonly createdAt: number;
}

/** How many jobs of a queue are in each state. `held`: of those that wait, the ones that a user holds back. */
export type QueueCounts = Readonly<Record<JobWord | "held", number>>;

/** What a job was asked for, besides its command and its need. Absent: the default. */
export interface JobTerms {
  /** 0: none. */
  readonly timeoutSeconds?: number;
  /** How often it is run again if it fails or is lost. */
  readonly retries?: number;
  readonly maxOutput?: OutputLimit | null;
  readonly limitsMemory?: boolean;
  readonly wrap?: Wrap;
  /** Both streams go to one file. */
  readonly mergesOutput?: boolean;
  /** Names of variables of its own, without those of the shell that enqueued it. */
  readonly envNames?: readonly string[];
  /** The frozen working directory in which it runs; absent: it runs in place. */
  readonly tree?: string;
  /** Of a job with a tree: its directory stays until it succeeds, and the next attempt continues in it. */
  readonly keepsDir?: boolean;
  /** Of a job with a tree: the paths that come back. */
  readonly copyBack?: readonly string[];
  /** Gets both streams, in their order. Absolute. */
  readonly outFile?: string;
  /** Its results go to job_results/ of its directory. */
  readonly resultsHere?: boolean;
  /** Run when the job has ended or is skipped. */
  readonly notify?: string;
  /** The parameters of a sweep's job. */
  readonly parameters?: Readonly<Record<string, string>>;
}

export interface QueueJob {
  readonly queue: string;
  /** Counts from 1 in each queue, and is never given twice. */
  readonly id: JobId;
  readonly name: string | null;
  /** A line of the shell. */
  readonly command: string;
  /** Absolute. */
  readonly cwd: string;
  readonly need: Requirement;
  /** -499 to 499; a larger number starts earlier. */
  readonly priority: number;
  readonly after: readonly Dependency[];
  readonly terms: JobTerms;
  readonly state: JobWord;
  /** It waits until a user releases it. */
  readonly isHeld: boolean;
  /** It is over, and its results are on this computer. */
  readonly isHere: boolean;
  /** How often it has begun. */
  readonly attempt: number;
  /** Where it runs, or ran last; null: nowhere yet. */
  readonly machine: string | null;
  /** What it got there, by name; cards are `gpu`. */
  readonly got: Readonly<Record<string, readonly string[]>>;
  /** Why it waits, or was skipped or lost; null: unknown, or it began. */
  readonly reason: string | null;
  /** Of this computer, in milliseconds, here and below. */
  readonly enqueuedAt: number;
  readonly startedAt: number | null;
  readonly endedAt: number | null;
  readonly durationMs: number | null;
  readonly outcome: Outcome | null;
  readonly footprint: Footprint | null;
  /** The last lines of the stderr of a failed job. */
  readonly stderrTail: string | null;
  /** Where its results are or will be: a directory; its output is beside it, as `.out` and `.err`. */
  readonly results: string;
}

/** A job that is to be added. */
export interface JobAsk {
  readonly command: string;
  /** As typed; for a queue with a prefix. Absent: `command` is split into words there. */
  readonly words?: readonly string[];
  readonly name?: string;
  /** Absent: that of the queue, or of the request. */
  readonly cwd?: string;
  /** Absent: a core. */
  readonly need?: Requirement;
  /** Absent: 0. */
  readonly priority?: number;
  readonly after?: readonly DependencyAsk[];
  readonly isHeld?: boolean;
  readonly terms?: Omit<JobTerms, "envNames">;
  /** Variables of its own. */
  readonly env?: Readonly<Record<string, string>>;
}

/** `job`: an id or a name in the queue; `place`: counts from 0 in the same request. */
export type DependencyAsk = { readonly when: Dependency["when"] } & (
  | { readonly job: number | string }
  | { readonly place: number }
);

/** All of the jobs are added, or none. */
export interface Enqueue {
  readonly queue: string;
  readonly jobs: readonly JobAsk[];
  /** The directory of the shell that enqueues. */
  readonly cwd: string;
  /** The variables of that shell, for jobs on this computer. */
  readonly environment?: Readonly<Record<string, string>>;
  /** A repeated request with the same key adds nothing, and gets the same answer. */
  readonly key?: string;
}

export interface Enqueued {
  readonly queue: string;
  readonly ids: readonly JobId[];
}

/** Which jobs: by ids, or all in these states. */
export interface JobQuery {
  /** Absent: of every queue. */
  readonly queue?: string;
  /** Absent: all. */
  readonly ids?: readonly JobId[];
  /** Names, or globs of names. */
  readonly names?: readonly string[];
  readonly states?: readonly JobWord[];
  /** Text in the command or name. */
  readonly text?: string;
  /** Jobs after this one in the order of the answer. */
  readonly before?: JobId;
  readonly limit?: number;
  /** Absent: newest first. */
  readonly isOldestFirst?: boolean;
}

/** What runs first: larger numbers start earlier. */
export const HIGHEST_PRIORITY = 499;

export function isPriority(value: unknown): value is number {
  return Number.isInteger(value) && Math.abs(value as number) <= HIGHEST_PRIORITY;
}

export const JOB_VERBS = ["stop", "retry", "remove", "hold", "release", "priority"] as const;
export type JobVerb = (typeof JOB_VERBS)[number];

export interface Act {
  readonly verb: JobVerb;
  readonly queue: string;
  readonly ids: readonly JobId[];
  /** With `priority`. */
  readonly priority?: number;
}

/** What happened to each job. `refused`: why nothing did. */
export interface Acted {
  readonly jobs: readonly {
    readonly id: JobId;
    readonly state: JobWord | "removed";
    readonly refused?: string;
  }[];
}
