// As simple_gpu_scheduler has it: a line for each command that begins, and what commands print, as they print it.

import type { BatchState } from "../../model/batch-state.js";
import type { RunEvent } from "../../model/event.js";
import { shortCommand } from "../../model/job.js";
import { applyToView, newView, type ViewState } from "../live/view-state.js";
import type { Reporter, TextSink } from "../reporter.js";
import { printable } from "../text/printable.js";
import type { PlainOptions } from "./plain.js";
import { summaryLines } from "./summary.js";
import { harmlessLines } from "./tee-lines.js";
import { haltedLine, pausedLine, STOPPING, warningLines } from "./wording.js";

export function createSimpleReporter(options: Omit<PlainOptions, "isVerbose">): Reporter {
  const { stdout, stderr, devicesOf } = options;
  const view = newView(options.machines);
  return {
    show(event, known) {
      applyToView(view, event, known);
      if (!known.isNews) return;
      write(stderr, noticeLines(event, known.state));
      if (event.kind === "job-output")
        write(event.stream === "out" ? stdout : stderr, harmlessLines(event.text));
      if (event.kind !== "job-started") return;
      const command = printable(shortCommand(view.state.jobs.get(event.job)?.job ?? { command: "" }));
      const cards = Object.values(devicesOf(event.machine, event.slot))[0] ?? "";
      write(stdout, [`Processing command \`${command}\` on gpu ${cards}`]);
    },
    suspend() {},
    resume() {},
    close() {
      if (!isAllWell(view)) write(stderr, summaryLines(view));
    },
  };
}

function noticeLines(event: RunEvent, state: BatchState): string[] {
  if (event.kind === "interrupted") return [STOPPING[event.mode]];
  if (event.kind === "halted") return [haltedLine(event)];
  return event.kind === "paused" ? [pausedLine(event)] : warningLines(event, state);
}

/** Then there is nothing to say. */
function isAllWell({ state: { jobs, tally } }: ViewState): boolean {
  return tally.succeeded === jobs.size;
}

function write(sink: TextSink, lines: readonly string[]): void {
  if (lines.length > 0) sink.write(`${lines.join("\n")}\n`);
}
