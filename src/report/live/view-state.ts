// The run as people see it: the state of the batch, and facts only for display, such as last lines and transfers.

import type { Attempt } from "../../model/attempt.js";
import { rankOf } from "../../model/attempt-key.js";
import { type BatchState, emptyState } from "../../model/batch-state.js";
import type { RunEvent } from "../../model/event.js";
import type { NeedAdvice } from "../../model/footprint.js";
import type { Job, JobId } from "../../model/job.js";
import type { Incomplete } from "../../model/job-event.js";
import { forgetReasons } from "../../model/waiting-reason.js";
import { haltedLine, pausedLine, STOPPING } from "../lines/wording.js";
import type { Known, Sources } from "../reporter.js";
import { lastSaid } from "../text/printable.js";
import { progressIn } from "./job-progress.js";
import type { KeysMode } from "./keys-mode.js";
import { applyToMachine, type MachineView, newMachine } from "./machine-view.js";

/** Functions that a view calls about jobs when it is drawn. */
type JobSources = Pick<Sources, "lastWordsOf" | "nextCommands">;

export interface ViewState {
  readonly sources: JobSources;
  /** The batch file, as named by the user; empty until the run has begun. */
  title: string;
  /** Its name on machines, by which their reasons name its jobs; empty until then. */
  batch: string;
  /** The state after the last event. */
  state: BatchState;
  startedAt: number | null;
  lastEventAt: number;
  readonly machines: Map<string, MachineView>;
  /** The end of an ended attempt's output; read once. */
  readonly lastWordsOf: (job: Job, attempt: number) => string;
  /** The last line of output of each running job. */
  readonly lastLines: Map<JobId, LastLine>;
  /** True if a job of this batch prints its progress. */
  hasProgress: boolean;
  /** Results of which a part stays on a machine; known when the run has ended. */
  incomplete: readonly Incomplete[];
  /** Likewise. */
  needs: readonly NeedAdvice[];
  /** The notice at the bottom while no new job begins. */
  stopping: string | null;
  paused: string | null;
  interrupted: "no" | "drain" | "stop";
  /** Which keys are shown; null: no keys are read. */
  keys: KeysMode | null;
}

export interface RunningJob {
  readonly job: Job;
  readonly machine: string;
  readonly slot: number;
  readonly gpus?: readonly string[];
  readonly startedAt: number;
  /** Its last line of output; null: there is none. */
  readonly said: LastLine | null;
}

interface LastLine {
  /** Safe to print. */
  readonly text: string;
  /** When it was printed, as far as known. */
  readonly at: number;
}

export function newView(machines: readonly string[], sources: JobSources): ViewState {
  return {
    sources,
    lastWordsOf: remembering(sources),
    title: "",
    batch: "",
    state: emptyState(),
    startedAt: null,
    lastEventAt: 0,
    machines: new Map(machines.map((name) => [name, newMachine(name)])),
    lastLines: new Map(),
    hasProgress: false,
    incomplete: [],
    needs: [],
    stopping: null,
    paused: null,
    interrupted: "no",
    keys: null,
  };
}

/** `known`: the result of the event. */
export function applyToView(view: ViewState, event: RunEvent, { state, isNews }: Known): void {
  view.state = state;
  view.lastEventAt = event.at;
  if (!isNews) return;
  if (event.kind === "slot-waiting" || ("machine" in event && !("job" in event)))
    applyToMachine(machineOf(view, event.machine), event);
  switch (event.kind) {
    case "run-started":
      view.startedAt = event.at;
      view.title = event.script;
      view.batch = event.batch;
      return;
    case "job-started":
      forgetReasons(machineOf(view, event.machine).held, event.slot, event.job);
      return;
    case "job-said":
      return noteSaid(view, event);
    case "job-ended":
      view.lastLines.delete(event.job);
      return;
    case "interrupted":
      view.stopping = STOPPING[event.mode];
      view.interrupted = event.mode;
      return;
    case "halted":
      view.stopping = haltedLine(event);
      return;
    case "same-crash":
      // A pause has its own event.
      if (event.action === "halt") view.stopping = "the first jobs crashed: no new jobs; running jobs finish";
      return;
    case "paused":
      view.paused = pausedLine(event);
      return;
    case "continued":
      if (event.from === "drain") Object.assign(view, { stopping: null, interrupted: "no" });
      else view.paused = null;
      return;
    case "run-ended":
      view.incomplete = event.incomplete ?? [];
      view.needs = event.needs ?? [];
      return;
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
    case "machine-draining":
    case "machine-opened":
    case "machine-done":
    case "tree-read":
    case "staging":
    case "staged":
    case "jobs-assigned":
    case "jobs-handed-over":
    case "jobs-taken-back":
    case "jobs-reassigned":
    case "jobs-retried":
    case "job-grown":
    case "jobs-gone":
    case "jobs-stopping":
    case "jobs-resumed":
    case "slot-waiting":
    case "job-resumes":
    case "dirs-kept":
    case "old-results-removed":
    case "job-output":
    case "output-restarted":
    case "collecting":
    case "jobs-arrived":
    case "job-collected":
    case "rest-collected":
    case "job-stuck":
    case "warning":
      return;
    default:
      event satisfies never;
  }
}

/** In the order of the batch, so that a row stays in its place while others change. */
export function runningJobs(view: ViewState): RunningJob[] {
  const running = [...view.state.machines.values()].flatMap(({ current }) => [...current.running]);
  return running
    .flatMap((attempt) => runningJob(view, attempt))
    .sort((one, other) => rankOf(one.job) - rankOf(other.job));
}

function runningJob(
  { state, lastLines }: ViewState,
  { job: id, machine, stage }: Attempt,
): RunningJob | never[] {
  const job = state.jobs.get(id)?.job;
  // The client may learn that a job began before it learns in which slot.
  if (job === undefined || stage.kind !== "running" || stage.slot === null) return [];
  const said = lastLines.get(id) ?? null;
  const { slot, gpus, startedAt } = stage;
  return { job, machine, slot, ...(gpus && { gpus }), startedAt: startedAt ?? 0, said };
}

function noteSaid(
  view: ViewState,
  { job, text, at, saidAt = at }: Extract<RunEvent, { kind: "job-said" }>,
): void {
  const said = lastSaid(text);
  view.lastLines.set(job, { text: said, at: saidAt });
  view.hasProgress ||= progressIn(said) !== null;
}

function remembering({ lastWordsOf }: JobSources): ViewState["lastWordsOf"] {
  const known = new Map<string, string>();
  return (job, attempt) => {
    const id = `${job.id} ${attempt}`;
    const words = known.get(id) ?? lastWordsOf(job);
    known.set(id, words);
    return words;
  };
}

function machineOf(view: ViewState, name: string): MachineView {
  const known = view.machines.get(name);
  if (known !== undefined) return known;
  const added = newMachine(name);
  view.machines.set(name, added);
  return added;
}
