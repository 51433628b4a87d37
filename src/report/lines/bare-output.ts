// The output of execute_remote: what the command prints, unchanged, and nothing else unless something is wrong.

import type { BatchState } from "../../model/batch-state.js";
import type { RunEvent } from "../../model/event.js";
import { describeOutcome } from "../../model/job.js";
import type { Reporter, TextSink } from "../reporter.js";
import { harmlessLines } from "./tee-lines.js";
import { warningLines } from "./warning-lines.js";
import { STOPPING } from "./wording.js";

export interface BareOptions {
  readonly stdout: TextSink;
  readonly stderr: TextSink;
  readonly isVerbose: boolean;
}

export function createBareReporter({ stdout, stderr, isVerbose }: BareOptions): Reporter {
  return {
    show(event, { state, isNews }) {
      if (!isNews) return;
      if (event.kind === "job-output")
        return write(event.stream === "out" ? stdout : stderr, harmlessLines(event.text));
      write(stderr, event.kind === "interrupted" ? [STOPPING[event.mode]] : warningLines(event, state));
      if (isVerbose) write(stderr, progressLines(event, state));
    },
    suspend() {},
    resume() {},
    close() {},
  };
}

function progressLines(event: RunEvent, { jobs }: BatchState): string[] {
  if (event.kind === "job-started") return [`started on ${event.machine}`];
  if (event.kind !== "job-collected") return [];
  const name = jobs.get(event.job)?.job.name;
  return [`${describeOutcome(event.outcome)}; ${event.files} files in job_results/${name}`];
}

function write(sink: TextSink, lines: readonly string[]): void {
  if (lines.length > 0) sink.write(`${lines.join("\n")}\n`);
}
