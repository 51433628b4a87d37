// What a batch is, for the verbs that carry it out. It does not change during a run.

import type { BatchSettings } from "../../model/batch.js";
import type { JobId } from "../../model/job.js";
import type { Kinds } from "../../plan/slots/kinds.js";
import type { Tree } from "../../remote/tree/tree.js";

/** As it was asked for. */
export interface Given {
  readonly script: string;
  /** Who we are to other clients of the batch: user@computer:directory. */
  readonly client: string;
  readonly env: Readonly<Record<string, string>>;
  /** Instead of `env`, of the jobs that have their own. */
  readonly jobEnv?: ReadonlyMap<JobId, Readonly<Record<string, string>>>;
  /** What jobs begin with, by `treeKeyOf`; being read while machines are connected to. */
  readonly trees: Trees;
  /** Absent: people are warned of large trees. */
  readonly sending?: SendingLimits;
}

type Trees = ReadonlyMap<string, Promise<Tree>>;

export interface SendingLimits {
  /** To one machine; null: no limit was set. */
  readonly maxBytes: number | null;
  /** Asks a person, where no limit was set; null: there is none to ask. */
  readonly confirm: ((question: string) => Promise<boolean>) | null;
}

export interface Terms extends Given {
  /** Names the batch on machines. */
  readonly batch: string;
  /** What its jobs' names begin with. */
  readonly stem: string;
  readonly settings: BatchSettings;
  /** What its jobs need. */
  readonly kinds: Kinds;
  /** That there will ever be; Infinity: not known. */
  readonly mostJobs: number;
}
