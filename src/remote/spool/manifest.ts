// The description of a batch in its spool, so that another computer can resume it. Every hand-over appends to it.

import { isAttemptKey, parseAttemptKey } from "../../model/attempt-key.js";
import type { BatchSettings } from "../../model/batch.js";
import type { Job } from "../../model/job.js";
import type { Slot } from "../../model/machine.js";
import { isOutputLimit } from "../../model/output-limit.js";
import { describeNewer, VERSION } from "../../model/version.js";
import { isWrap } from "../../model/wrapper.js";
import type { Session } from "../../transport/session.js";
import { ask } from "../engine/ask.js";
import { type Place, prelude } from "../engine/layout.js";
import { RemoteError } from "../engine/remote-error.js";
import { isDigits, soundPlacing, soundRequirement, soundSeconds } from "./sound-need.js";

const FORMAT = 2;
const MAX_BYTES = 256 << 20;

export interface Manifest {
  readonly script: string;
  /** The prefix for the names of its jobs; absent in manifests of older versions. */
  readonly stem?: string;
  readonly settings: BatchSettings;
  readonly slots: readonly Slot[];
  /** By attempt key. */
  readonly jobs: ReadonlyMap<string, Job>;
}

export function formatManifest({ jobs, settings, ...rest }: Manifest): string {
  const about = { ...rest, settings: withoutMaxOld(settings) };
  const lines = [...jobs].map(([key, job]) => JSON.stringify({ key, job: forMachine(job) }));
  return `${[JSON.stringify({ v: FORMAT, sshoal: VERSION, about }), ...lines].join("\n")}\n`;
}

/**
 * A job is handed over only when it needs to wait for no other. Places on this computer are no business of a machine: results
 * that go elsewhere have a name that fits into the job_results/ of another client.
 */
function forMachine({ dependsOn: _d, tree: _t, turn: _n, cwd: _c, ...job }: Job): Job {
  return { ...job, name: job.name.slice(job.name.lastIndexOf("/") + 1) };
}

type About = Omit<Manifest, "jobs">;

/**
 * Later lines override earlier ones. Null if it has no usable line. Throws RemoteError for the manifest of a newer
 * sshoal.
 */
function parseManifest(lines: readonly string[]): Manifest | null {
  let about: About | null = null;
  const jobs = new Map<string, Job>();
  for (const line of lines) {
    const entry = parseEntry(line);
    if (entry?.v !== undefined && entry.v > FORMAT) throw newerError(entry);
    if (entry?.about !== undefined) about = withLaterSettings(entry.about) ?? about;
    if (entry?.key !== undefined && entry.job !== undefined && isOfKey(entry.job, entry.key))
      jobs.set(entry.key, entry.job);
  }
  return about === null ? null : { ...about, jobs };
}

/** The batch's record is made from both, so they must name the same job. */
function isOfKey({ id, command }: Job, key: string): boolean {
  return isAttemptKey(key) && id > 0 && parseAttemptKey(key).job === id && typeof command === "string";
}

/**
 * Version 0.1 ran nothing in place. A machine does not decide which variables of this computer it gets. Null: these are no
 * settings.
 */
function withLaterSettings({ stem, ...about }: About): About | null {
  const {
    inPlace = null,
    copyForward,
    maxOutput,
    placing,
    wrap,
    limitsMemory,
    envFromFiles: _,
    ...settings
  } = withoutMaxOld(about.settings);
  const requirement = soundRequirement(settings.requirement);
  const rules = soundPlacing(placing);
  if (requirement === undefined) return null;
  return {
    ...about,
    ...(typeof stem === "string" && isFileName(stem) && { stem }),
    settings: {
      ...settings,
      requirement,
      timeoutSeconds: soundSeconds(settings.timeoutSeconds),
      inPlace,
      copyForward: soundPaths(copyForward) ?? ["."],
      copyBack: soundPaths(settings.copyBack) ?? ["."],
      ...(isOutputLimit(maxOutput) && { maxOutput }),
      ...(rules && { placing: rules }),
      ...(isWrap(wrap) && { wrap }),
      ...(limitsMemory === true && { limitsMemory }),
    },
  };
}

/** How many earlier results stay here is no business of a machine. */
function withoutMaxOld({ maxOld: _, ...settings }: BatchSettings): BatchSettings {
  return settings;
}

function newerError({ sshoal }: Entry): RemoteError {
  const { message, hint } = describeNewer(sshoal ?? null);
  return new RemoteError(`the batch on it was ${message}`, hint);
}

interface Entry {
  readonly v?: number;
  /** Absent in format 1. */
  readonly sshoal?: string;
  readonly about?: About;
  readonly key?: string;
  readonly job?: Job;
}

function parseEntry(line: string): Entry | null {
  try {
    const entry = withSoundParameters(JSON.parse(line) as Entry);
    const isOdd = entry.job !== undefined && !isFileName(entry.job.name);
    return isOdd ? null : withSoundOwn(withId(entry));
  } catch {
    return null;
  }
}

/** Names become local paths, so names from a machine are checked strictly. */
function isFileName(name: string): boolean {
  return /^[^/\0\n.-][^/\0\n]*$/.test(name);
}

/** The paths that a job copies are read locally: a machine must not name anything outside the working directory. */
function withSoundOwn(entry: Entry): Entry {
  if (entry.job === undefined) return entry;
  const { label, copyForward, copyBack, maxOutput, requirement, timeoutSeconds, ...rest } = forMachine(
    entry.job,
  );
  const { priority, order, wrap, limitsMemory, isGrown, mergesOutput, ...job } = rest;
  const [forward, back] = [soundPaths(copyForward), soundPaths(copyBack)];
  const need = soundRequirement(requirement);
  const seconds = soundSeconds(timeoutSeconds);
  const own = {
    ...(need && { requirement: need }),
    ...(seconds !== null && { timeoutSeconds: seconds }),
    ...(isDigits(priority, 3) && { priority }),
    ...(isDigits(order, 10) && { order }),
    ...(typeof label === "string" && { label }),
    ...(forward && { copyForward: forward }),
    ...(back && { copyBack: back }),
    ...((maxOutput === null || isOutputLimit(maxOutput)) && { maxOutput }),
    ...(isWrap(wrap) && { wrap }),
    ...(typeof mergesOutput === "boolean" && { mergesOutput }),
    ...(typeof limitsMemory === "boolean" && { limitsMemory }),
    ...(isGrown === true && need && { isGrown }),
  };
  return { ...entry, job: { ...job, ...own } };
}

/** Undefined if they lead outside or are not paths. */
function soundPaths(paths: unknown): string[] | undefined {
  if (!Array.isArray(paths)) return undefined;
  const isInside = (path: unknown) =>
    typeof path === "string" && !/^\/|[\0\n]/.test(path) && !path.split("/").includes("..");
  return paths.every(isInside) ? (paths as string[]) : undefined;
}

/** In format 1 the line was the id of a job. */
function withId(entry: Entry): Entry {
  return entry.job === undefined
    ? entry
    : { ...entry, job: { ...entry.job, id: entry.job.id ?? entry.job.line } };
}

/** Keeps only texts, because every report expects texts. */
function withSoundParameters(entry: Entry): Entry {
  const parameters: unknown = entry.job?.parameters;
  if (entry.job === undefined || parameters === undefined) return entry;
  const isSound =
    typeof parameters === "object" &&
    parameters !== null &&
    Object.values(parameters).every((value) => typeof value === "string");
  if (isSound) return entry;
  const { parameters: _, ...job } = entry.job;
  return { ...entry, job };
}

/** Null: there is no spool of this batch. */
export async function readManifest(
  session: Session,
  place: Place,
  signal: AbortSignal,
): Promise<Manifest | null> {
  const script = `${prelude(place)}
[ ! -e "$spool/manifest" ] || cat "$spool/manifest" </dev/null || exit 1
echo done
`;
  return parseManifest(
    await ask(session, { doing: "reading the manifest", script, signal, maxBytes: MAX_BYTES }),
  );
}
