// The output of simple_gpu_scheduler: a line for each command that begins, and the output of commands, unchanged.

import type { RunEvent } from "../../model/event.js";
import { shortCommand } from "../../model/job.js";
import { applyToView, newView, type ViewState } from "../live/view-state.js";
import type { Reporter, Sources, TextSink } from "../reporter.js";
import { printable } from "../text/printable.js";
import { signsOf } from "../text/signs.js";
import { PLAIN_COLUMNS, type PlainOptions } from "./plain.js";
import type { Told } from "./plain-lines.js";
import { summaryLines } from "./summary.js";
import { harmlessLines } from "./tee-lines.js";
import { warningLines } from "./warning-lines.js";
import { haltedLine, pausedLine, STOPPING } from "./wording.js";

export function createSimpleReporter(options: Omit<PlainOptions, "isVerbose">): Reporter {
  const { stdout, stderr, devicesOf } = options;
  const view = newView(options.machines, options);
  return {
    show(event, known) {
      applyToView(view, event, known);
      if (!known.isNews) return;
      write(stderr, warningLines(event, known.state));
      const told = tell(view, event, devicesOf);
      write(stdout, told.stdout ?? []);
      write(stderr, told.stderr ?? []);
    },
    suspend() {},
    resume() {},
    close(isLeft = false) {
      const look = { signs: signsOf(options.useUnicode), columns: PLAIN_COLUMNS };
      if (!isLeft && !isAllWell(view)) write(stderr, summaryLines(view, look));
    },
  };
}

function tell(view: ViewState, event: RunEvent, devicesOf: Sources["devicesOf"]): Told {
  switch (event.kind) {
    case "job-output":
      return { [event.stream === "out" ? "stdout" : "stderr"]: harmlessLines(event.text) };
    case "job-started": {
      const command = printable(shortCommand(view.state.jobs.get(event.job)?.job ?? { command: "" }));
      const cards = Object.values(devicesOf(event))[0] ?? "";
      return { stdout: [`Processing command \`${command}\` on gpu ${cards}`] };
    }
    case "interrupted":
      return { stderr: [STOPPING[event.mode]] };
    case "halted":
      return { stderr: [haltedLine(event)] };
    case "paused":
      return { stderr: [pausedLine(event)] };
    case "run-started":
    case "results-moved":
    case "jobs-added":
    case "job-refused":
    case "machine-serves":
    case "jobs-left-out":
    case "jobs-complete":
    case "run-resumed":
    case "job-skipped":
    case "job-blocked":
    case "job-reopened":
    case "job-replaced":
    case "machine-ready":
    case "machine-lost":
    case "machine-back":
    case "machine-quiet":
    case "machine-failed":
    case "machine-refused":
    case "machine-set-aside":
    case "same-crash":
    case "machine-draining":
    case "machine-opened":
    case "machine-done":
    case "tree-read":
    case "staging":
    case "staged":
    case "jobs-assigned":
    case "jobs-stopping":
    case "jobs-resumed":
    case "jobs-handed-over":
    case "jobs-taken-back":
    case "jobs-reassigned":
    case "jobs-retried":
    case "job-grown":
    case "jobs-gone":
    case "slot-waiting":
    case "job-resumes":
    case "dirs-kept":
    case "old-results-removed":
    case "job-said":
    case "output-restarted":
    case "job-ended":
    case "collecting":
    case "jobs-arrived":
    case "job-collected":
    case "rest-collected":
    case "job-stuck":
    case "warning":
    case "continued":
    case "run-ended":
      return {};
    default:
      return event satisfies never;
  }
}

/** Then nothing is printed. */
function isAllWell({ state: { jobs, tally } }: ViewState): boolean {
  return tally.succeeded === jobs.size;
}

function write(sink: TextSink, lines: readonly string[]): void {
  if (lines.length > 0) sink.write(`${lines.join("\n")}\n`);
}
