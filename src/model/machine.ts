// A machine as its file describes it (spec), as the probe measured it (capacity), and its slots.

import type { Requirement } from "./job.js";
import type { Wrap } from "./wrapper.js";

/** The format of the spools that this version makes. Spools of 0.1 have format 1, those of 0.2 and 0.3 have format 2. */
export const SPOOL_FORMAT = 3;

/** A spool that an older version made. It gets no jobs: begun jobs are collected, and waiting jobs are taken back. */
export interface OlderSpool {
  readonly batch: string;
  readonly format: number;
}

/** Reports show such a spool as a separate machine beside the one that gets jobs. */
export function olderName(machine: string): string {
  return `${machine} (older spool)`;
}

/** With the name of the second one: a batch may have begun with format 1, and gone on with format 2. */
export function olderNames(machine: string): [string, string] {
  return [olderName(machine), `${machine} (older spool 2)`];
}

export interface MachineSpec {
  /** Its name in reports and records: the file's name, `my_machine.yaml`, or as typed, `ada@gpu1`. */
  readonly name: string;
  readonly address: Address;
  /** The absolute path of the machine file; null: there is none. */
  readonly file: string | null;
  /** Indices of the cards that may be used; null: all cards. */
  readonly gpus: readonly number[] | null;
  readonly excludeGpus: readonly number[];
  readonly maxJobs: number | null;
  /** At most this many slots, independent of other batches; absent: as many as fit. */
  readonly mostSlots?: number;
  /** The directory for sshoal's files on the machine; null: `~/.sshoal`. */
  readonly scratch: string | null;
  /** The spool that has its jobs, if that is not the batch's current spool. */
  readonly spool?: OlderSpool;
  readonly env: Readonly<Record<string, string>>;
  /** Shell lines that run before each job. */
  readonly setup: readonly string[];
  /** Runs the command of each job, after `setup`. Absent: none. */
  readonly wrap?: Wrap;
  /** Each job runs in a new shell, without the fast path of slots (`runtime/fast.sh`). */
  readonly hasPlainSlots: boolean;
  /** Named resources besides those that are measured: how much each instance has, by name. Absent: none. */
  readonly resources?: Readonly<Record<string, Readonly<Record<string, number>>>>;
  /** What is reserved for people. */
  readonly keepFree: { readonly memoryMb: number; readonly cpus: number; readonly gpus: number };
}

export type Address =
  | { readonly kind: "local" }
  /** It keeps a connection to the queue service, and only that reaches it. */
  | { readonly kind: "joined"; readonly name: string }
  | {
      readonly kind: "ssh";
      /** As typed: an alias of the ssh configuration, a host name or an address. */
      readonly host: string;
      /** Null, here and below: the value of the ssh configuration. */
      readonly port: number | null;
      readonly username: string | null;
      /** Absolute. */
      readonly keyPath: string | null;
      /** The ssh configuration file, absolute. */
      readonly configFile: string | null;
      /** Null: ssh2, unless the configuration needs features that ssh2 lacks. */
      readonly transport: "ssh2" | "openssh" | null;
    };

/** What a probe measured. Null means that it could not be read, never "none". */
export interface Capacity {
  readonly hostname: string;
  /** Equal for two routes to the same account on the same running machine; empty: unknown. */
  readonly identity: string;
  /** The shell that runs the lines of a batch. */
  readonly shell: "bash" | "sh";
  readonly cpus: { readonly total: number; readonly free: number } | null;
  readonly memory: { readonly totalMb: number | null; readonly freeMb: number } | null;
  readonly gpus: readonly Gpu[];
  /** Why no cards were found, or what the tool reported besides the cards. */
  readonly gpuProblem: string | null;
  /** Claims of live slots of other batches. */
  readonly claims: readonly Claim[];
  /** The account that sshoal has on the machine. Absent: not asked, because there are no claims. */
  readonly account?: string;
  /**
   * Set only if processes are killed when their connection closes. "scope": processes in a scope of the user's own
   * systemd survive. "no-linger": that systemd ends as well. "no-scope": it does not start scopes for us.
   */
  readonly logout?: "scope" | "no-linger" | "no-scope";
}

export interface Gpu {
  readonly vendor: "nvidia" | "amd";
  readonly index: number;
  readonly uuid: string;
  readonly name: string;
  readonly memoryTotalMb: number | null;
  readonly memoryFreeMb: number | null;
  /** 0 to 1; null: unknown. */
  readonly utilization: number | null;
  /** Why the card gets no job ("needs a reset"); null: usable. */
  readonly unusable: string | null;
  /** At most one process may hold the card (compute mode Exclusive_Process). */
  readonly isExclusive: boolean;
  /** The card has no memory of its own (GB10, Jetson), and uses the host's memory. */
  readonly sharesHostMemory: boolean;
  /** A MIG slice: made visible by its UUID, not by index. */
  readonly isMig: boolean;
  /** MIG slices of one GPU instance have this in common: its memory is there once for all of them. Absent: it is the card's own. */
  readonly memoryGroup?: string;
  /** Processes on the card. Absent: not known; the driver is asked only where a card looks used. */
  readonly holders?: readonly CardHolder[];
}

/** A process on a card. */
export interface CardHolder {
  /** 0: not known. */
  readonly pid: number;
  /** "", here and below: not known. */
  readonly user: string;
  readonly program: string;
  readonly memoryMb: number | null;
  /** It belongs to a job that has a claim, of whichever account. */
  readonly isClaimed: boolean;
  /** Of the account that probes. Absent: of another one, or not known. */
  readonly isOwn?: true;
}

export interface Claim {
  /** The account; "": the one that probes. */
  readonly owner: string;
  readonly batch: string;
  /** The name of its job in its batch; "": not known. */
  readonly job: string;
  readonly slot: string;
  readonly memoryMb: number;
  /** How much of that memory the job already holds, so that it is not counted twice. */
  readonly residentMb: number;
  readonly cpus: number;
  readonly cards: readonly ClaimedCard[];
  readonly resources: readonly ClaimedResource[];
  readonly reservesMachine: boolean;
}

export interface ClaimedCard {
  readonly uuid: string;
  readonly memoryMb: number;
  /** The share of its computing. */
  readonly share: number;
  /** 1: the card is for this job alone. 0: jobs share it without amounts. */
  readonly amount: number;
  /** How much of its memory the job already holds; null: not known. */
  readonly usedMb: number | null;
}

export interface ClaimedResource {
  readonly name: string;
  readonly instance: string;
  readonly amount: number;
}

/** Room for one job at a time on one machine, with its cards. */
export interface Slot {
  /** 0-based, within its machine. */
  readonly index: number;
  readonly gpus: readonly Gpu[];
  /** The requirement of the jobs it takes; absent: that of the batch. */
  readonly requirement?: Requirement;
  /** Absent if all jobs of the batch have the same requirement: then the number of slots is the limit. */
  readonly room?: SharedRoom;
}

/** The room that slots of several kinds share: each kind has as many slots as if it were alone. */
interface SharedRoom {
  readonly cpus: number;
  readonly jobs: number | null;
  /** For this slot's cards, in their order. Null: the card uses the host's memory. */
  readonly cards: readonly { readonly memoryMb: number | null; readonly utilization: number }[];
}
