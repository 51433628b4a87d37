// The options of `run`, as they are typed and as the program uses them.

import type { HaltRule } from "../../model/halt-rule.js";
import type { OutputLimit } from "../../model/output-limit.js";
import type { Wrap } from "../../model/wrapper.js";
import type { Policy } from "../../plan/run-state.js";
import type { Rerun } from "../../run/rerun.js";
import type { MachineOptions, RawMachines } from "./machine-options.js";
import type { NotifyOptions, RawNotify } from "./notify-options.js";

/** The tools whose users know their lines. */
export type Voice = "sshoal" | "simple_gpu_scheduler" | "execute_remote";

export interface RunOptions extends MachineOptions {
  /** As typed; "-": stdin. */
  readonly script: string;
  /** The script grows: jobs arrive while lines are appended to it. */
  readonly follows: boolean;
  /** The script's lines are calls of execute_remote. */
  readonly isKabuki: boolean;
  /** Null, here and below: the option was not given. */
  readonly copyForward: readonly string[] | null;
  readonly copyBackwards: readonly string[] | null;
  readonly copiesUnchanged: boolean;
  /** Patterns of files that are copied in neither direction. */
  readonly exclude: readonly string[];
  /** In bytes, per machine; null: the user is asked, or warned. */
  readonly maxSend: number | null;
  /** The directory of a job stays on its machine until the job succeeds. */
  readonly keepsDir: boolean;
  /** Both streams of a job go to one file. */
  readonly mergesOutput: boolean;
  /** Null: all output is kept. */
  readonly maxOutput: OutputLimit | null;
  /** Null: all earlier results are kept. */
  readonly maxOld: number | null;
  /** Null: that of the machine files. */
  readonly wrap: Wrap | null;
  readonly env: Readonly<Record<string, string>>;
  /** The names of those that only a configuration file sets. */
  readonly envFromFiles: readonly string[];
  readonly timeoutSeconds: number | null;
  readonly isDryRun: boolean;
  /** Return once everything is handed over. */
  readonly detaches: boolean;
  /** Also show the output of jobs. */
  readonly tees: boolean;
  readonly notify: NotifyOptions;
  readonly policy: Policy;
  /** When all first jobs crash in the same way, the batch pauses on a terminal, and otherwise ends. */
  readonly pausesOnCrash: boolean;
  readonly rerun: Rerun;
  /** A line whose command changed keeps its results. */
  readonly keepsChanged: boolean;
  /** Whose lines are printed. */
  readonly voice: Voice;
}

export interface RawRun extends RawMachines, RawNotify {
  readonly follow?: string;
  readonly kabukiCommands?: true;
  /** True: given without a path. */
  readonly copyForward?: string[] | true;
  readonly copyBackwards?: string[] | true;
  readonly copyUnchanged?: true;
  readonly exclude?: string[];
  readonly maxSend?: number;
  readonly keepDir?: true;
  readonly merge?: true;
  readonly maxOutput?: OutputLimit | "none";
  /** Infinity: all. */
  readonly maxOld?: number;
  readonly wrap?: Wrap;
  readonly env?: string[];
  /** Of configuration files: those of the batch file and of the command line take precedence. */
  readonly envByDefault?: string[];
  readonly timeout?: number;
  readonly dryRun?: true;
  readonly detach?: true;
  readonly tee?: true;
  readonly retries: number;
  readonly retryOnFailure?: true;
  readonly retryOnOom?: true;
  readonly retryFailed?: true;
  readonly rerun?: Rerun;
  readonly keepChanged?: true;
  /** Infinity: never. */
  readonly reassignAfter: number;
  readonly halt: HaltRule | "never";
  readonly pause?: boolean;
}
