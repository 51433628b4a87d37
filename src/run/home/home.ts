// The places on the local disk for everything that arrives from machines.

import type { Emit } from "../loop.js";
import type { OutputFiles } from "./output-files.js";
import type { ResultPruner } from "./prune-results.js";
import type { Results } from "./results.js";

export interface Home {
  readonly results: Results;
  readonly outputs: OutputFiles;
  /** Null: all earlier results stay. */
  readonly pruner: ResultPruner | null;
  /** Emits, and returns once it is safe in the record. */
  readonly commit: Emit;
}
