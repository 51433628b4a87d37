// What `sshoal doctor` finds out about a machine, and what it says about it. Null: it could not be found out.

import type { Capacity } from "./machine.js";

export type Verdict = "ok" | "warn" | "bad";

/** One thing that was looked at. With a "bad" one the batch would not run there. */
export interface Check {
  /** What was looked at, in a word or two: "login shell". */
  readonly check: string;
  readonly verdict: Verdict;
  readonly says: string;
  /** What to type or change; null: nothing needs to be done. */
  readonly fix: string | null;
}

export interface Examination {
  readonly connection: Connection;
  readonly startUp: StartUp;
  readonly facts: HostFacts;
  readonly capacity: Capacity;
  /** How many scripts can run on one connection at once, as far as it was tried. */
  readonly sessions: number | null;
  /** Whether a process outlived the connection it was started on; null: not tried. */
  readonly outlivesLogout: boolean | null;
}

export interface Connection {
  readonly transport: "ssh2" | "openssh" | "local";
  readonly why: string | null;
  readonly login: string | null;
  readonly hostKey: string | null;
  /** Seen for the first time just now. */
  readonly isHostKeyNew: boolean;
  readonly via: readonly string[];
  readonly tookMs: number;
}

/** What comes before a script: the login shell and its start-up files. */
export interface StartUp {
  readonly tookMs: number;
  /** What it printed, either way; empty: nothing. */
  readonly noise: string;
}

export interface HostFacts {
  /** Of `uname`: "Linux". */
  readonly system: string;
  readonly user: string;
  /** A path. */
  readonly loginShell: string;
  readonly missingTools: readonly string[];
  /** "apt-get", "dnf"… */
  readonly packageManager: string | null;
  /** The machine's clock is so much ahead of ours. */
  readonly clockAheadMs: number | null;
  readonly cudaOrder: string | null;
  /** Of systemd-logind: what is left of a session is killed at its end. */
  readonly killsProcesses: boolean | null;
  readonly lingers: boolean | null;
  readonly scratch: ScratchFacts;
  /** Type of its filesystem: "ext2/ext3", "nfs". */
  readonly homeFilesystem: string | null;
  readonly setup: SetupTrial | null;
  /** Directories or files that `setup:` often forgets to name. */
  readonly condaDir: string | null;
  readonly modulesFile: string | null;
  /** What it was doing when its time was over; null: it came to its end. */
  readonly stuckAt: string | null;
}

export interface ScratchFacts {
  /** The directory our files would be in, or the nearest one above that is there. */
  readonly dir: string;
  readonly freeKb: number | null;
  readonly filesystem: string | null;
  /** What was said when a file was to be written; null: it can be. */
  readonly unwritable: string | null;
  /** Programs in it cannot be started (mounted noexec). */
  readonly isNoexec: boolean;
  /** Why our files may not be there: another account could change them. Null: they may. */
  readonly unsafe: string | null;
}

/** What came of the machine file's `env:` and `setup:`, run as before a job. */
export type SetupTrial =
  | {
      readonly kind: "worked";
      /** What `python` is after it. */
      readonly python: string | null;
      readonly said: readonly string[];
    }
  | { readonly kind: "failed"; readonly code: number; readonly said: readonly string[] }
  | { readonly kind: "too-long"; readonly seconds: number };
