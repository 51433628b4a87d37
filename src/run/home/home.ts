// The places on the local disk for everything that arrives from machines.

import type { Emit } from "../loop.js";
import type { OutputFiles } from "./output-files.js";
import type { Results } from "./results.js";

export interface Home {
  readonly results: Results;
  readonly outputs: OutputFiles;
  /** Emits, and returns once the event is safe in the record. */
  readonly commit: Emit;
}
