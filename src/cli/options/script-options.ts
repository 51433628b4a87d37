// Options that a batch file sets by #@ lines: for all jobs, or for the job right below. They are options of the command
// line, read by the same definitions.

import type { AskedJobs, OwnCopying } from "../../batch/forward/own-copying.js";
import { type Problem, problemsError } from "../../errors.js";
import type { Batch } from "../../input/batch/batch-file.js";
import { findDependencies, splitJobWords } from "../../input/batch/job-dependencies.js";
import { findLabelMistake } from "../../input/batch/job-name.js";
import type { AskedDependency } from "../../model/dependency.js";
import type { Job, JobId, Requirement } from "../../model/job.js";
import { OptionReader, type RawScript } from "./option-reader.js";
import type { Environment } from "./option-values.js";
import { pathsIn } from "./path-words.js";
import type { Revise } from "./revise-run.js";
import type { RawRun, RunOptions } from "./run-options.js";

/** For all jobs and for one. Jobs that arrive one by one may set these, too. */
export const FOR_BOTH = [
  "--num-cpus",
  "--memory-required",
  "--limit-memory",
  "--reserve",
  "--no-reserve-gpu",
  "--no-gpu-required",
  "--gpu-memory-required",
  "--gpu-utilization",
  "--gpus-per-job",
  "--gpu-model",
  "--gpu-memory-total",
  "--require",
  "--timeout",
  "--max-output",
  "--env",
  "--wrap",
  "--keep-dir",
  "--copy-forward",
  "--copy-backwards",
];
export const FOR_A_JOB = [...FOR_BOTH, "--name", "--after", "--after-any", "--after-fail"];
export const FOR_ALL = [
  ...FOR_BOTH,
  "--gpus",
  "--pack",
  "--polite",
  "--machines",
  "-F",
  "--host-keys",
  "--copy-unchanged",
  "--exclude",
  "--merge",
  "--max-old",
  "--max-send",
  "--retries",
  "--retry-on-failure",
  "--retry-on-oom",
  "--reassign-after",
  "--notify",
  "--notify-on",
  "--kabuki-commands",
];

export interface ScriptOptions {
  readonly options: RunOptions;
  /** With their own options, except paths. */
  readonly jobs: readonly Job[];
  /** Their own paths, by job. */
  readonly own: AskedJobs["own"];
  /** By job; the values may be secrets, and are not part of the jobs. */
  readonly jobEnv: ReadonlyMap<number, Readonly<Record<string, string>>>;
}

/** The own options of one job. */
interface OwnOptions {
  /** Without the words around it, if its line is a call of execute_remote. */
  readonly command: string;
  readonly set: Partial<RawScript>;
  /** The place of an option: `train.sh:3`. */
  readonly whereIs: (flag: string) => string;
}

/** Throws UserError with every mistake of every line. */
export function applyScriptOptions(batch: Batch, revise: Revise, env: Environment): ScriptOptions {
  const reader = new OptionReader(batch.script, env);
  const forAll = reader.read(batch.forAll, FOR_ALL, "for all jobs");
  const options = revise(forAll);
  const asked = batch.jobs.map((job) => readOwn(job, batch, options, reader));
  const problems = [...reader.problems, ...findNameProblems(asked)];
  if (problems.length > 0) throw problemsError(problems);
  const own = new Map<JobId, OwnCopying>();
  const jobEnv = new Map<JobId, Readonly<Record<string, string>>>();
  const jobs = batch.jobs.map((job, index) => {
    const { set, command, whereIs } = asked[index] as OwnOptions;
    if (Object.keys(set).length === 0) return command === job.command ? job : { ...job, command };
    const revised = reader.check(whereIs(""), () => revise(forAll, set));
    if (revised === null) return job;
    if (set.env !== undefined) jobEnv.set(job.id, revised.env);
    const copying = copyingOf(set, whereIs);
    if (copying !== null) own.set(job.id, copying);
    return { ...withOwn(job, set, revised, options.requirement), command, ...named(set, batch) };
  });
  if (reader.problems.length > 0) throw problemsError(reader.problems);
  return { options, jobs: withDependencies(jobs, asked), own, jobEnv };
}

/** Throws UserError for unknown names, and for jobs that wait for each other. */
function withDependencies(jobs: readonly Job[], own: readonly OwnOptions[]): readonly Job[] {
  const asking = jobs.map((job, index) => ({ job, asked: askedDependencies(own[index] as OwnOptions) }));
  const { dependsOn, problems } = findDependencies(asking);
  if (problems.length > 0) throw problemsError(problems);
  if (dependsOn.size === 0) return jobs;
  return jobs.map((job) => {
    const found = dependsOn.get(job.id);
    return found === undefined ? job : { ...job, dependsOn: found };
  });
}

export function askedDependencies({
  set: { after, afterAny, afterFail },
  whereIs,
}: Pick<OwnOptions, "set" | "whereIs">): AskedDependency[] {
  const asked = [
    { when: "succeeded", flag: "--after", texts: after },
    { when: "ended", flag: "--after-any", texts: afterAny },
    { when: "failed", flag: "--after-fail", texts: afterFail },
  ] as const;
  return asked.flatMap(({ when, flag, texts }) =>
    texts === undefined ? [] : [{ when, words: splitJobWords(texts), where: whereIs(flag) }],
  );
}

function readOwn(
  job: Job,
  { script, own }: Batch,
  { isKabuki }: RunOptions,
  reader: OptionReader,
): OwnOptions {
  const lines = (job.line === null ? undefined : own.get(job.line)) ?? [];
  const set = lines.length === 0 ? {} : reader.read(lines, FOR_A_JOB, "for one job");
  const above = (flag: string) => lines.find(({ text }) => text.includes(flag))?.line;
  const call = isKabuki ? reader.readCall(job) : null;
  return {
    command: call?.command ?? job.command,
    set: { ...set, ...call?.copying, ...(call?.name != null && { name: call.name }) },
    whereIs: (flag) => `${script}:${above(flag) ?? job.line}`,
  };
}

/** Names that are invalid, and names that two jobs have. */
export function findNameProblems(asked: readonly Pick<OwnOptions, "set" | "whereIs">[]): Problem[] {
  const seen = new Map<string, string>();
  return asked.flatMap(({ set: { name }, whereIs }): Problem[] => {
    if (name === undefined) return [];
    const where = whereIs("--name");
    const mistake = findLabelMistake(name);
    if (mistake !== null)
      return [
        { where, message: `the name ${name}: ${mistake.message}`, hint: `for example ${mistake.instead}` },
      ];
    const first = seen.get(name);
    seen.set(name, first ?? where);
    const hint = "give each job a name of its own";
    return first === undefined ? [] : [{ where, message: `the name ${name} is taken: ${first}`, hint }];
  });
}

export function copyingOf(
  { copyForward, copyBackwards }: Partial<RawScript>,
  whereIs: OwnOptions["whereIs"],
): OwnCopying | null {
  if (copyForward === undefined && copyBackwards === undefined) return null;
  const [forward, backwards] = [pathsIn(copyForward), pathsIn(copyBackwards)];
  return {
    forward: forward && { where: whereIs("--copy-forward"), paths: forward },
    backwards: backwards && { where: whereIs("--copy-backwards"), paths: backwards },
  };
}

function named({ name }: Partial<RawScript>, { stem }: Batch): Pick<Job, "name" | "label"> | undefined {
  return name === undefined ? undefined : { name: `${stem}.${name}`, label: name };
}

function withOwn(job: Job, set: Partial<RawRun>, revised: RunOptions, common: Requirement): Job {
  return { ...job, ...ownTermsOf(set, revised, common) };
}

/** What a job keeps of its own options. `common`: the requirement of the batch. */
export function ownTermsOf(
  set: Partial<RawRun>,
  { requirement, timeoutSeconds, maxOutput, env, wrap, limitsMemory }: RunOptions,
  common: Requirement,
): Pick<
  Job,
  "requirement" | "timeoutSeconds" | "maxOutput" | "limitsMemory" | "wrap" | "envNames" | "keepsDir"
> {
  return {
    ...("keepDir" in set && { keepsDir: set.keepDir ?? false }),
    ...(JSON.stringify(requirement) !== JSON.stringify(common) && { requirement }),
    ...("timeout" in set && { timeoutSeconds: timeoutSeconds ?? 0 }),
    ...("maxOutput" in set && { maxOutput }),
    ...("limitMemory" in set && { limitsMemory }),
    ...(set.wrap !== undefined && { wrap: wrap ?? [] }),
    ...(set.env !== undefined && { envNames: Object.keys(env) }),
  };
}
