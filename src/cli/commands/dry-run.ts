// `--dry-run`: prints the slots and the commands that would start first. Leaves nothing behind.

import { type Surveyed, survey } from "../../batch/machine/survey.js";
import type { Surroundings } from "../../batch/surroundings.js";
import { ExitCode } from "../../errors.js";
import { emptyState } from "../../model/batch-state.js";
import type { RunEvent } from "../../model/event.js";
import { type Job, kindOf } from "../../model/job.js";
import type { MachineSpec, Slot } from "../../model/machine.js";
import { phasesOf } from "../../plan/phases.js";
import { deviceEnv } from "../../plan/slots/devices.js";
import { type KindsPlan, kindsOf, planKinds } from "../../plan/slots/kinds.js";
import { planSlots } from "../../plan/slots/slots.js";
import { whyNever } from "../../plan/slots/why-never.js";
import { createJsonReporter, jsonLine } from "../../report/lines/json-lines.js";
import { createPlainReporter } from "../../report/lines/plain.js";
import { startedLine } from "../../report/lines/plain-lines.js";
import { count } from "../../report/lines/wording.js";
import type { Reporter } from "../../report/reporter.js";
import { printable } from "../../report/text/printable.js";
import { Results } from "../../run/home/results.js";
import type { RunOptions } from "../options/run-options.js";
import { connector } from "../terminal/connectors.js";

export interface DryRun {
  readonly jobs: readonly Job[];
  readonly machines: readonly MachineSpec[];
  readonly options: RunOptions;
  readonly surroundings: Surroundings;
}

export async function dryRun({ jobs, machines, options, surroundings }: DryRun): Promise<ExitCode> {
  const { requirement, isJson } = options;
  const { stdout, stderr } = process;
  const names = machines.map(({ name }) => name);
  const reporter = isJson
    ? createJsonReporter(stdout)
    : createPlainReporter({ ...NOTHING_RUN, stdout, stderr, machines: names });
  const note = (message: string) => show(reporter, { kind: "warning", message, at: Date.now() });
  const connect = connector(surroundings, options, note);
  const surveyed = await survey(machines, { ...options, connect, wantsHolders: false });
  const planned = surveyed.map((each) => plan(each, jobs, options));
  for (const each of planned) showPlanned(each, reporter);
  const results = new Results(surroundings.cwd);
  const waiting = jobs.filter(({ name }) => !results.has(name));
  const [first = [], ...later] = phasesOf(waiting);
  for (const { job, machine, slot } of firstSeats(first, planned)) {
    const { id, line, name } = job;
    const devices = deviceEnv(slot, job.requirement ?? requirement);
    const text = [`would start on ${machine}: ${startedLine(job, devices)}`, ...ownPathLines(job)].join("\n");
    const { copyForward, copyBack } = job;
    const about = { job: id, name, line, machine, slot: slot.index };
    const object = { kind: "would-start", ...about, copyForward, copyBack };
    stdout.write(`${isJson ? jsonLine(object) : text}\n`);
  }
  for (const [index, phase] of later.entries())
    stdout.write(isJson ? phase.map(laterJson).join("") : laterLine(phase, index + 2));
  return planned.some(({ slots }) => slots.length > 0) ? ExitCode.Success : ExitCode.NoMachine;
}

const LATER_LISTED = 5;

/** `phase 2: 3 jobs would start after others: train.sh.a, train.sh.b, train.sh.c`. */
function laterLine(phase: readonly Job[], number: number): string {
  const names = phase.slice(0, LATER_LISTED).map(({ name }) => printable(name));
  const more = phase.length - names.length;
  const list = `${names.join(", ")}${more > 0 ? ` and ${more} more` : ""}`;
  return `phase ${number}: ${count(phase.length, "job")} would start after others: ${list}\n`;
}

function laterJson({ id, name, line, dependsOn }: Job): string {
  return `${jsonLine({ kind: "would-wait", job: id, name, line, dependsOn })}\n`;
}

/** No job begins, so there is nothing to look up. */
const NOTHING_RUN = {
  devicesOf: () => ({}),
  lastWordsOf: () => "",
  nextCommands: () => [],
  isVerbose: false,
  useUnicode: true,
};

/** The job's own paths, if they differ from the batch's. */
function ownPathLines({ copyForward, copyBack }: Job): string[] {
  const listed = (flag: string, paths: readonly string[]) =>
    `  ${flag}: ${paths.map(printable).join(" ") || "none"}`;
  return [
    ...(copyForward === undefined ? [] : [listed("--copy-forward", copyForward)]),
    ...(copyBack === undefined ? [] : [listed("--copy-backwards", copyBack)]),
  ];
}

interface Planned extends KindsPlan {
  readonly surveyed: Surveyed;
  /** The cards that jobs of a kind would get, in the order of the jobs. */
  readonly forecasts: ReadonlyMap<string, readonly Slot[]>;
}

function plan(surveyed: Surveyed, jobs: readonly Job[], { requirement, placing }: RunOptions): Planned {
  if (surveyed.kind === "failed")
    return { surveyed, slots: [], isFull: false, serves: [], short: [], forecasts: new Map() };
  const { spec, capacity } = surveyed;
  const kinds = kindsOf(jobs);
  const asked = { spec, capacity, placing };
  const forecasts = [...kinds].map(
    ([kind, own]) => [kind, planSlots({ ...asked, requirement: own ?? requirement }).slots] as const,
  );
  return { surveyed, forecasts: new Map(forecasts), ...planKinds({ ...asked, requirement, kinds }) };
}

function showPlanned({ surveyed, slots, isFull, serves, short }: Planned, reporter: Reporter): void {
  const about = { machine: surveyed.spec.name, at: Date.now() };
  if (surveyed.kind === "failed") {
    return show(reporter, { kind: "machine-failed", reason: surveyed.reason, hint: surveyed.hint, ...about });
  }
  const { capacity } = surveyed;
  const reasons = whyNever(capacity, short);
  if (slots.length === 0) {
    return show(reporter, { kind: "machine-failed", reason: reasons, hint: null, hasNoRoom: true, ...about });
  }
  show(reporter, {
    kind: "machine-ready",
    capacity,
    slots,
    ...(isFull && { isFull }),
    kinds: serves,
    ...about,
  });
  if (reasons === "") return;
  const message = `${about.machine} has no room for some of the jobs: ${reasons}`;
  show(reporter, { kind: "warning", message, at: about.at });
}

/** No job has begun, and none will. */
function show(reporter: Reporter, event: RunEvent): void {
  reporter.show(event, { state: emptyState(), isNews: true });
}

interface Seat {
  readonly job: Job;
  readonly machine: string;
  readonly slot: Slot;
}

/** In the order in which jobs are dealt: the first slots of all machines, then the second ones. */
function firstSeats(jobs: readonly Job[], planned: readonly Planned[]): Seat[] {
  const places = planned
    .filter(({ isFull }) => !isFull)
    .flatMap((each) => each.slots.map(({ index }) => ({ planned: each, index })));
  places.sort((a, b) => a.index - b.index);
  const seats: Seat[] = [];
  for (const job of jobs) {
    if (places.length === 0) break;
    const kind = kindOf(job.requirement);
    const at = places.findIndex((place) => place.planned.serves.includes(kind));
    const [place] = at === -1 ? [] : places.splice(at, 1);
    if (place === undefined) continue;
    const { surveyed, forecasts } = place.planned;
    const machine = surveyed.spec.name;
    const before = seats.filter((seat) => seat.machine === machine && kindOf(seat.job.requirement) === kind);
    const gpus = forecasts.get(kind)?.[before.length]?.gpus ?? [];
    seats.push({ job, machine, slot: { index: place.index, gpus } });
  }
  return seats;
}
