// The settings of a batch, apart from its jobs. The record keeps them, so that a batch can be resumed without its
// command line.

import type { Requirement } from "./job.js";
import type { OutputLimit } from "./output-limit.js";
import type { Wrap } from "./wrapper.js";

/** How far a growing file has been read. */
export interface FeedPosition {
  /** Device and inode, because the name may belong to another file by now. */
  readonly file: string;
  readonly offset: number;
  /** Lines of this file and of the files before it. */
  readonly lines: number;
  /** A digest of the text before the offset, to detect whether it has changed. */
  readonly digest: string;
}

export interface BatchSettings {
  readonly requirement: Requirement;
  /** How cards are chosen. Absent: the least used card that fits. */
  readonly placing?: Placing;
  readonly timeoutSeconds: number | null;
  /** The local directory in which jobs run without a copy of anything; null: each job has its own directory. */
  readonly inPlace: string | null;
  /** Relative to the working directory. */
  readonly copyForward: readonly string[];
  /** Relative to a job's directory. */
  readonly copyBack: readonly string[];
  /** Patterns of an ignore file at the top, excluded in both directions. Absent: none. */
  readonly exclude?: readonly string[];
  readonly copiesUnchanged: boolean;
  /** Both streams of a job go to one file, in the order in which they are written. Absent: one file per stream. */
  readonly mergesOutput?: boolean;
  /** The directory of a job stays on its machine until the job succeeds. Absent: it is removed once it is collected. */
  readonly keepsDir?: boolean;
  /** How much is kept of each stream of a job. Absent: all of it. */
  readonly maxOutput?: OutputLimit;
  /** Jobs get no more memory than the requirement, where the machine can do that. Absent: they do. */
  readonly limitsMemory?: boolean;
  /** Runs the command of each job; empty: none. Absent: that of the machine file. */
  readonly wrap?: Wrap;
  /** How many earlier results are kept of each job. Absent: all of them. */
  readonly maxOld?: number;
  /** Their values may be secrets, and are kept nowhere. */
  readonly envNames: readonly string[];
  /** Those of them that a configuration file sets, which a later client can read again. Absent: none. */
  readonly envFromFiles?: readonly string[];
}

export interface Placing {
  /** Fill cards before others are begun. */
  readonly packs?: boolean;
  /** Leave a card free where there are several, and use none on which another person's process is. Jobs run with `nice`. */
  readonly isPolite?: boolean;
}
