// What `sshoal doctor` finds on a machine, and its verdicts. Null: it could not be determined.

import type { Capacity } from "./machine.js";

export type Verdict = "ok" | "warn" | "bad";

/** One thing that doctor examines. If the verdict is "bad", the batch would not run on the machine. */
export interface Check {
  /** The name of the check, one or two words: "login shell". */
  readonly check: string;
  readonly verdict: Verdict;
  readonly says: string;
  /** What to type or change; null if nothing needs to be done. */
  readonly fix: string | null;
}

export interface Examination {
  readonly connection: Connection;
  readonly startUp: StartUp;
  readonly facts: HostFacts;
  readonly capacity: Capacity;
  /** How many scripts can run on one connection at once, as far as doctor tried. */
  readonly sessions: number | null;
  /** Whether a process survived the end of the connection that started it; null: not tried. */
  readonly outlivesLogout: boolean | null;
}

export interface Connection {
  readonly transport: "ssh2" | "openssh" | "local";
  readonly why: string | null;
  readonly login: string | null;
  readonly hostKey: string | null;
  /** True if the host key was seen for the first time just now. */
  readonly isHostKeyNew: boolean;
  readonly via: readonly string[];
  readonly tookMs: number;
}

/** What runs before a script: the login shell and its start-up files. */
export interface StartUp {
  readonly tookMs: number;
  /** What it printed to stdout or stderr; empty if nothing. */
  readonly noise: string;
}

export interface HostFacts {
  /** As `uname` prints it: "Linux". */
  readonly system: string;
  readonly user: string;
  /** A path. */
  readonly loginShell: string;
  readonly missingTools: readonly string[];
  /** What is in the directories of claims and is no claim, by path. */
  readonly oddClaims: readonly string[];
  /** It is a container that does not share /dev/shm with its host. */
  readonly hasOwnShm: boolean;
  /** "apt-get", "dnf"… */
  readonly packageManager: string | null;
  /** How far the machine's clock is ahead of the local clock. */
  readonly clockAheadMs: number | null;
  readonly cudaOrder: string | null;
  /** systemd-logind kills remaining processes when a session ends. */
  readonly killsProcesses: boolean | null;
  readonly lingers: boolean | null;
  /** "works", or why --limit-memory would not; null: not tried. */
  readonly memoryLimit: string | null;
  readonly scratch: ScratchFacts;
  /** The type of its file system: "ext2/ext3", "nfs". */
  readonly homeFilesystem: string | null;
  readonly setup: SetupTrial | null;
  /** Directories or files that users often forget to name in `setup:`. */
  readonly condaDir: string | null;
  readonly modulesFile: string | null;
  /** What it was doing when its time ran out; null if it finished. */
  readonly stuckAt: string | null;
}

export interface ScratchFacts {
  /** The directory for sshoal's files, or its nearest existing parent. */
  readonly dir: string;
  readonly freeKb: number | null;
  readonly filesystem: string | null;
  /** The error message when a file was to be written; null if it could be written. */
  readonly unwritable: string | null;
  /** Programs in it cannot be started (mounted noexec). */
  readonly isNoexec: boolean;
  /** Why sshoal's files are not safe there: another account could change them. Null: they are safe. */
  readonly unsafe: string | null;
}

/** The result of the machine file's `env:` and `setup:`, run as before a job. */
export type SetupTrial =
  | {
      readonly kind: "worked";
      /** What `python` is after `setup:`. */
      readonly python: string | null;
      readonly said: readonly string[];
    }
  | { readonly kind: "failed"; readonly code: number; readonly said: readonly string[] }
  | { readonly kind: "too-long"; readonly seconds: number };
