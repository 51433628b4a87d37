// A machine as its file describes it (spec), as the probe found it (capacity), and the room on it (slots).

import type { Requirement } from "./job.js";

/** Of the spools that this version makes. Those of 0.1 are of format 1. */
export const SPOOL_FORMAT = 2;

/** A spool that an older version made. It gets no jobs: what has begun there is fetched, and the rest is taken back. */
export interface OlderSpool {
  readonly batch: string;
  readonly format: number;
}

/** People see such a spool as a machine beside the one that gets jobs now. */
export function olderName(machine: string): string {
  return `${machine} (older spool)`;
}

export interface MachineSpec {
  /** What people and records call it: the file's name, `my_machine.yaml`, or as it was typed, `ada@gpu1`. */
  readonly name: string;
  readonly address: Address;
  /** The machine file, absolute; null: there is none. */
  readonly file: string | null;
  /** Indices of the cards that may be used; null: all of them. */
  readonly gpus: readonly number[] | null;
  readonly excludeGpus: readonly number[];
  readonly maxJobs: number | null;
  /** At most this many slots, whatever other batches have; absent: as many as have room. */
  readonly mostSlots?: number;
  /** Where our files live over there; null: `~/.sshoal`. */
  readonly scratch: string | null;
  /** Where its jobs are, if that is not the spool that the batch has now. */
  readonly spool?: OlderSpool;
  readonly env: Readonly<Record<string, string>>;
  /** Shell lines run before each job. */
  readonly setup: readonly string[];
  /** Jobs run one by one in shells of their own, without what makes slots faster (`runtime/fast.sh`). */
  readonly hasPlainSlots: boolean;
  /** What is left for people. */
  readonly keepFree: { readonly memoryMb: number; readonly cpus: number; readonly gpus: number };
}

export type Address =
  | { readonly kind: "local" }
  | {
      readonly kind: "ssh";
      /** As typed: an alias of the ssh configuration, a host name or an address. */
      readonly host: string;
      /** Null, here and below: what the ssh configuration says. */
      readonly port: number | null;
      readonly username: string | null;
      /** Absolute. */
      readonly keyPath: string | null;
      /** Of the ssh configuration, absolute. */
      readonly configFile: string | null;
      /** Null: ssh2, unless the configuration needs more. */
      readonly transport: "ssh2" | "openssh" | null;
    };

/** What a probe found. Null means it could not be read, never "none". */
export interface Capacity {
  readonly hostname: string;
  /** Equal for two ways to the same account on the same running machine; empty: unknown. */
  readonly identity: string;
  /** What runs the lines of a batch. */
  readonly shell: "bash" | "sh";
  readonly cpus: { readonly total: number; readonly free: number } | null;
  readonly memory: { readonly totalMb: number | null; readonly freeMb: number } | null;
  readonly gpus: readonly Gpu[];
  /** Why there are no cards, or what the tool said beside the cards it listed. */
  readonly gpuProblem: string | null;
  /** What the live slots of this user's other batches have claimed. */
  readonly claims: readonly Claim[];
  /**
   * Only where processes are killed when their connection closes. "scope": not those in a scope of the user's own
   * systemd; "no-linger": that one ends, too; "no-scope": it starts nothing for us.
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
  /** Why no job may be put there ("needs a reset"); null: usable. */
  readonly unusable: string | null;
  /** At most one process may hold the card (compute mode Exclusive_Process). */
  readonly isExclusive: boolean;
  /** The card has no memory of its own (GB10, Jetson): its budget is the host's. */
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
  /** It belongs to a job of this user that has a claim. */
  readonly isClaimed: boolean;
}

export interface Claim {
  readonly batch: string;
  readonly slot: string;
  readonly memoryMb: number;
  /** How much of that memory its job already holds, so that it is not counted twice. */
  readonly residentMb: number;
  readonly cpus: number;
  readonly gpuUuids: readonly string[];
  readonly gpuMemoryMb: number;
  readonly gpuUtilization: number;
  readonly reservesGpu: boolean;
  readonly reservesMachine: boolean;
}

/** Room for one job at a time on one machine, with its cards. */
export interface Slot {
  /** 0-based, within its machine. */
  readonly index: number;
  readonly gpus: readonly Gpu[];
  /** Of the jobs it takes; absent: those of the batch. */
  readonly requirement?: Requirement;
  /** Absent where all jobs of the batch need the same: then the number of slots says it all. */
  readonly room?: SharedRoom;
}

/** What slots of several kinds have together: each kind has as many as if it were alone. */
export interface SharedRoom {
  readonly cpus: number;
  readonly jobs: number | null;
  /** Of this slot's cards, in their order. Null: it is the host's memory. */
  readonly cards: readonly { readonly memoryMb: number | null; readonly utilization: number }[];
}
