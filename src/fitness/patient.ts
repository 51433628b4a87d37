// A machine that was examined, with what is to run there.

import type { Examination } from "../model/examination.js";
import type { Requirement } from "../model/job.js";
import type { MachineSpec } from "../model/machine.js";

export interface Patient {
  readonly spec: MachineSpec;
  readonly examination: Examination;
  readonly requirement: Requirement;
  /** Names in the working directory, which jobs get a copy of and the trial of the setup did not. */
  readonly treeNames: readonly string[];
}
