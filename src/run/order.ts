// What the caller of a run asks for.

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
  /** The prefix for the names of its jobs, its record and its lock. */
  readonly stem: string;
  /** The jobs that are known from the start. */
  readonly jobs: readonly Job[];
  /** More jobs arrive while the batch runs, and none is known from the start; null: `jobs` are all. */
  readonly feed: FeedOrder | null;
  /** `envNames`: names from an earlier client, whose values are unknown; absent: the names in `env`. */
  readonly settings: Omit<BatchSettings, "envNames"> & Partial<Pick<BatchSettings, "envNames">>;
  readonly policy: Policy;
  /**
   * `jobs` are known from the start, and more may be given until the news `jobs-complete`. `matching` is "id" then, and
   * `feed` null. Nothing of it stays on machines after the run. Absent: `jobs` are all, or come from the feed.
   */
  readonly staysOpen?: true;
  /** What identifies a job in the record: its command, its name (with any command), or its id. */
  readonly matching: "command" | "name" | "id";
  /** Set if this client just had the batch: of the finished jobs, only these count as skipped. */
  readonly goesOn?: { readonly skipped: ReadonlySet<JobId> };
  /** Which of the finished jobs run again. */
  readonly rerun: Rerun;
  readonly machines: readonly MachineSpec[];
  /** Provides the connections. */
  readonly fleet: Fleet;
  /** The place for results and the record. */
  readonly results: Results;
  /** Held during the run; absent: the run takes its own lock. */
  readonly lock?: RunLock;
  /** Called after the event was applied; `isNews` is false if it changed nothing. */
  readonly onEvent: (event: RunEvent, isNews: boolean) => void;
  /** Gets the output of jobs; absent: output is not passed on. */
  readonly onOutput?: ShowOutput;
}
