// What is asked of a run.

import type { Fleet } from "../fleet/fleet.js";
import type { BatchSettings } from "../model/batch.js";
import type { RunEvent } from "../model/event.js";
import type { Job, JobId } from "../model/job.js";
import type { MachineSpec } from "../model/machine.js";
import type { Policy } from "../plan/run-state.js";
import type { FeedOrder } from "./feed.js";
import type { RunLock } from "./home/lock.js";
import type { Results } from "./home/results.js";
import type { ShowOutput } from "./home/tee.js";
import type { Rerun } from "./rerun.js";
import type { Given } from "./verbs/terms.js";

export interface BatchOrder extends Given {
  /** What the names of its jobs, its record and its lock begin with. */
  readonly stem: string;
  /** Those that are known from the start. */
  readonly jobs: readonly Job[];
  /** More come while the batch runs, and none is known from the start; null: `jobs` are all. */
  readonly feed: FeedOrder | null;
  /** `envNames`: of an earlier client, whose values are not known; left out: those of `env`. */
  readonly settings: Omit<BatchSettings, "envNames"> & Partial<Pick<BatchSettings, "envNames">>;
  readonly policy: Policy;
  /** What makes a job the same as one of the record: its command, its name (whatever its command is now), or its id. */
  readonly matching: "command" | "name" | "id";
  /** This client had the batch a moment ago: of what is done, only these count as skipped. Absent: it had not. */
  readonly goesOn?: { readonly skipped: ReadonlySet<JobId> };
  /** Which of the jobs that are done are to be run again. */
  readonly rerun: Rerun;
  readonly machines: readonly MachineSpec[];
  /** Lends the connections to them. */
  readonly fleet: Fleet;
  /** Where results and the record go. */
  readonly results: Results;
  /** Held while the run lasts; absent: one of its own. */
  readonly lock?: RunLock;
  /** After it was applied; `isNews` is false for what was known before. */
  readonly onEvent: (event: RunEvent, isNews: boolean) => void;
  /** What jobs print is passed on here; left out: it is not. */
  readonly onOutput?: ShowOutput;
}
