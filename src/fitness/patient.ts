// An examined machine, with the jobs that are to run on it.

import type { Examination } from "../model/examination.js";
import type { Requirement } from "../model/job.js";
import type { MachineSpec } from "../model/machine.js";

export interface Patient {
  readonly spec: MachineSpec;
  readonly examination: Examination;
  readonly requirement: Requirement;
  /** Names in the working directory. Jobs get a copy of it; the trial of the setup had none. */
  readonly treeNames: readonly string[];
}
