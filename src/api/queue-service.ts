// What the API acts on: the queue service, or a followed batch as one queue. Every call that changes something resolves when
// the change is safe on the disk. Each throws UserError if the user can fix it.

import type { Duplex } from "node:stream";
import type { JobId } from "../model/job.js";
import type { Capacity } from "../model/machine.js";
import type {
  Act,
  Acted,
  Capacities,
  Enqueue,
  Enqueued,
  JobQuery,
  Queue,
  QueueCounts,
  QueueJob,
  QueueSpec,
} from "../model/queue.js";
import type { QueueEvent } from "../model/queue-event.js";
import type { SentEntry, SentFiles } from "../model/sent-tree.js";
import type { WhyWaiting } from "../model/why.js";

export interface QueueService {
  /** Absent: clients of other computers can send nothing here. */
  readonly disk?: ServiceDisk;
  readonly health: Health;
  queues(): readonly QueueInfo[];
  /** `env`: the values of `envNames`. Resolves when its machines were asked what they have. */
  createQueue(spec: QueueSpec, env: Readonly<Record<string, string>>): Promise<QueueInfo>;
  /** Refused while it has jobs that are not over, unless `stops`. */
  deleteQueue(name: string, stops: boolean): Promise<void>;
  /** Null: all queues. Paused: nothing starts any more once this resolves. */
  setPaused(name: string | null, isPaused: boolean): Promise<void>;
  enqueue(asked: Enqueue): Promise<Enqueued>;
  /** Newest first, unless the query asks for the oldest. */
  jobs(query: JobQuery): readonly QueueJob[];
  /** Throws UserError if there is none. */
  job(queue: string, id: JobId): QueueJob;
  act(asked: Act): Promise<Acted>;
  /** Where the output of the job is; the file may not exist yet. */
  logPath(queue: string, id: JobId, stream: "out" | "err"): string;
  /** Why the job waits, by machine. */
  why(queue: string, id: JobId): Promise<WaitingJob>;
  machines(): readonly QueueMachine[];
  actOnMachine(asked: MachineAct): Promise<void>;
  /** A machine that has dialled in gives its shell to queues. */
  join(asked: JoinAsk): Promise<JoinDoor>;
  /** Events after this one, at most `limit`; null: they are no longer kept. */
  eventsAfter(seq: number, limit?: number): readonly QueueEvent[] | null;
  /** Returns a function that ends it. */
  onEvent(listener: (event: QueueEvent) => void): () => void;
  /** Leaves the jobs on their machines. */
  close(): Promise<void>;
}

/** What clients on other computers cannot see by themselves. */
export interface ServiceDisk {
  /** `~` and relative paths begin in the home. Null: there is no such directory, or it cannot be entered. */
  directory(path: string): string | null;
  /** The contents of a working directory that are not here. None: it is stored, and has this name. */
  missing(
    entries: readonly SentEntry[],
  ): Promise<{ readonly tree: string; readonly missing: readonly string[] }>;
  /** Stores it durably. Throws a Refusal. */
  receive(hash: string, files: SentFiles, content: AsyncIterable<Buffer>): Promise<void>;
}

export interface Health {
  readonly pid: number;
  readonly version: string;
  readonly startedAt: number;
  /** Of the last event. */
  readonly seq: number;
  readonly database: string;
  /** Why no jobs are accepted now, such as a full disk; null: they are. */
  readonly refuses: string | null;
  /** The followed batch that answers; absent: it is the queue service. */
  readonly batch?: string;
}

export interface QueueInfo extends Queue {
  readonly counts: QueueCounts;
  /** Its jobs run on this computer alone, where they can run in place. */
  readonly runsHere: boolean;
}

export interface QueueMachine {
  readonly queue: string;
  readonly machine: string;
  readonly phase: "unused" | "connecting" | "ready" | "unreachable" | "failed";
  readonly isDraining: boolean;
  /** As last measured. */
  readonly capacity: Capacity | null;
  readonly slots: number;
  readonly running: readonly JobId[];
  readonly reason: string | null;
}

export interface MachineAct {
  readonly verb: "add" | "remove" | "drain" | "undrain";
  readonly queue: string;
  readonly machine: string;
}

export interface WaitingJob {
  readonly job: QueueJob;
  /** Its place among the waiting jobs of its queue, from 1; null: it does not wait. */
  readonly place: number | null;
  /** Why it does not begin, whatever room there is: the queue is paused, the job is held, or comes after others. */
  readonly holds: readonly string[];
  /** Machine by machine, as measured a moment ago; null: it does not wait for room. */
  readonly room: WhyWaiting | null;
}

/** What the connection of a machine that dials in is used for, instead of HTTP. */
export const JOIN_PROTOCOL = "sshoal-join";

/** A machine that has dialled in. */
export interface JoinAsk {
  readonly name: string;
  readonly queues: readonly string[];
  /** A random word of the process that dials: its next connection replaces an earlier one. */
  readonly process: string;
  /** The public key with which it answers this time. */
  readonly hostKey: Buffer;
  /** Of the sshoal that dials. */
  readonly version: string;
  /** What it has besides what is measured; null: what the queues declare. */
  readonly capacity: Capacities | null;
}

export interface JoinDoor {
  /** The public key that the machine must accept. */
  readonly key: Buffer;
  /** Owns the stream. */
  take(stream: Duplex): void;
}
