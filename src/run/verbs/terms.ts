// The facts about a batch that verbs need. They do not change during a run.

import type { BatchSettings } from "../../model/batch.js";
import type { JobId, OwnFiles } from "../../model/job.js";
import type { Kinds } from "../../plan/slots/kinds.js";
import type { Tree } from "../../remote/tree/tree.js";

/** The facts that the caller of the run passes in. */
export interface Given {
  readonly script: string;
  /** The name of this client for other clients of the batch: user@computer:directory. */
  readonly client: string;
  readonly env: Readonly<Record<string, string>>;
  /** Used instead of `env` for jobs that have their own. */
  readonly jobEnv?: ReadonlyMap<JobId, Readonly<Record<string, string>>>;
  /** The files that jobs start with, by `treeKeyOf`; being read while machines are connected. */
  readonly trees: Trees;
  /** Reads the files of a job that has its own; absent: no such job arrives. */
  readonly readTree?: (own: OwnFiles) => Promise<Tree>;
  /** Absent: the user is warned about large trees. */
  readonly sending?: SendingLimits;
}

type Trees = ReadonlyMap<string, Promise<Tree>>;

export interface SendingLimits {
  /** The limit per machine; null: no limit was set. */
  readonly maxBytes: number | null;
  /** Asks a person if no limit was set; null: there is no person to ask. */
  readonly confirm: ((question: string) => Promise<boolean>) | null;
}

export interface Terms extends Given {
  /** The name of the batch on machines. */
  readonly batch: string;
  /** The prefix for its jobs' names. */
  readonly stem: string;
  readonly settings: BatchSettings;
  /** The requirements of its jobs, and of those that have arrived since. */
  readonly kinds: Kinds;
  /** The most jobs that there will ever be; Infinity: not known. */
  readonly mostJobs: number;
  /** More jobs are given while it runs. */
  readonly staysOpen: boolean;
}
