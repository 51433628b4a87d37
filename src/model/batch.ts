// What a batch was asked to be, apart from its jobs: kept in its record, so that it can go on without the command line.

import type { Requirement } from "./job.js";
import type { OutputLimit } from "./output-limit.js";

/** How far a file has been read that others append to. */
export interface FeedPosition {
  /** Device and inode: the name may be another file's by now. */
  readonly file: string;
  readonly offset: number;
  /** Of this file and those before it. */
  readonly lines: number;
  /** Of what stands before the offset, to tell whether it is still that. */
  readonly digest: string;
}

export interface BatchSettings {
  readonly requirement: Requirement;
  readonly timeoutSeconds: number | null;
  /** Where jobs run, on this computer, without a copy of anything; null: each has a directory of its own. */
  readonly inPlace: string | null;
  /** Relative to the working directory. */
  readonly copyForward: readonly string[];
  /** Relative to a job's directory. */
  readonly copyBack: readonly string[];
  /** Of both directions these are left out: patterns of an ignore file at the top. Absent: none. */
  readonly exclude?: readonly string[];
  readonly copiesUnchanged: boolean;
  /** Both streams of a job go to one file, in the order in which they are written. Absent: each has its own. */
  readonly mergesOutput?: boolean;
  /** The directory of a job stays on its machine until the job succeeds. Absent: it goes once it is collected. */
  readonly keepsDir?: boolean;
  /** How much is kept of each stream of a job. Absent: all of it. */
  readonly maxOutput?: OutputLimit;
  /** How many earlier results are kept of each job. Absent: all of them. */
  readonly maxOld?: number;
  /** Their values may be secrets, and are kept nowhere. */
  readonly envNames: readonly string[];
  /** Those of them that a configuration file sets, which a later client can read again. Absent: none. */
  readonly envFromFiles?: readonly string[];
}
