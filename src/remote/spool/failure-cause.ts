// Reads why a job failed from the facts that a slot reports with its end. Pure.

import type { FailureCause } from "../../model/failure.js";
import { type Outcome, succeeded } from "../../model/job.js";

/** The first that holds counts: a full disk is also why a setup fails. Facts of other versions are ignored. */
const FACTS: readonly (readonly [name: string, value: string, cause: FailureCause])[] = [
  ["oom", "certain", "out-of-memory"],
  ["disk", "full", "disk-full"],
  ["setup", "failed", "setup-failed"],
  ["gpu-memory", "yes", "gpu-out-of-memory"],
  ["oom", "likely", "likely-out-of-memory"],
];

export function withCause(outcome: Outcome, facts: ReadonlyMap<string, string>): Outcome {
  if (facts.size === 0 || succeeded(outcome)) return outcome;
  if (outcome.kind !== "exited" && outcome.kind !== "killed") return outcome;
  const found = FACTS.find(([name, value]) => facts.get(name) === value);
  return found === undefined ? outcome : { ...outcome, cause: found[2] };
}
