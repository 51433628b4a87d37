// Reads a batch file, or stdin, into jobs for a queue: its `#@` lines, and the names that jobs come after.

import { type Problem, problemsError, UserError } from "../../../errors.js";
import { bashAt } from "../../../input/batch/ask-bash.js";
import { type Batch, parseBatch } from "../../../input/batch/batch-file.js";
import { findDependencies } from "../../../input/batch/job-dependencies.js";
import { loadBatch } from "../../../input/batch/load-batch.js";
import type { Job } from "../../../model/job.js";
import type { DependencyAsk } from "../../../model/queue.js";
import { OptionReader } from "../../options/option-reader.js";
import type { EnqueueOptions } from "../../options/queue/enqueue-options.js";
import { type AskedJob, type AskedOf, askedJob, type RawJob } from "../../options/queue/job-ask.js";
import {
  askedDependencies,
  FOR_A_JOB,
  FOR_ALL,
  FOR_BOTH,
  findNameProblems,
} from "../../options/script-options.js";
import { note } from "../../terminal/note.js";

type Said = Pick<EnqueueOptions, "said" | "typed">;

/** `source`: a path, or `-`. Throws UserError with every mistake. */
export async function readBatchJobs(source: string, options: Said, of: AskedOf): Promise<AskedJob[]> {
  const batch =
    source === "-" ? await parseBatch(await readStdin(), "stdin", bashAt("bash")) : await loadBatch(source);
  return batchJobs(batch, options, of);
}

export function batchJobs(batch: Batch, options: Said, of: AskedOf): AskedJob[] {
  if (batch.jobs.length > 1) refuseForOne(options.typed, batch);
  const reader = new OptionReader(batch.script, of.env);
  const forAll = reader.read(batch.forAll, FOR_ALL, "for all jobs");
  checkForAll(batch, reader, forAll);
  const own = batch.jobs.map((job) => {
    const lines = (job.line === null ? undefined : batch.own.get(job.line)) ?? [];
    const set = lines.length === 0 ? {} : reader.read(lines, FOR_A_JOB, "for one job");
    const above = (flag: string) => lines.find(({ text }) => text.includes(flag))?.line;
    return { job, set, whereIs: (flag: string) => `${batch.script}:${above(flag) ?? job.line}` };
  });
  const problems = [...reader.problems, ...findNameProblems(own)];
  if (problems.length > 0) throw problemsError(problems);
  const places = placesAfter(own, problems);
  const jobs = own.map(({ job, set, whereIs }, index) => {
    const { after: _, afterAny: __, afterFail: ___, ...mine } = set;
    const said = { ...merged(options, forAll, mine) };
    const asked = reader.check(whereIs(""), () => askedJob(job.command, said, of));
    return asked && withPlaces(asked, places[index] ?? []);
  });
  const all = [...problems, ...reader.problems];
  if (all.length > 0) throw problemsError(all);
  return jobs.flatMap((job) => job ?? []);
}

/** A configuration file, then lines for all jobs, then the command line, then lines for one job. */
function merged({ said, typed }: Said, forAll: Partial<RawJob>, own: Partial<RawJob>): Partial<RawJob> {
  const env = [...(forAll.env ?? []), ...(typed.env ?? []), ...(own.env ?? [])];
  const needsCard = CARDS.some((key) => own[key] !== undefined) && own.gpuRequired === undefined;
  const whole = { ...said, ...forAll, ...typed, ...own, ...(env.length > 0 && { env }) };
  return needsCard ? { ...whole, gpuRequired: true } : whole;
}

const CARDS = ["gpuMemoryRequired", "gpuUtilization", "gpuModel", "gpuMemoryTotal"] as const;

/** They would be the same for every job. */
function refuseForOne(typed: Partial<RawJob>, { script, jobs }: Batch): void {
  const flag = typed.name !== undefined ? "--name" : typed.out !== undefined ? "--out" : null;
  if (flag === null) return;
  throw new UserError(`${flag} is for one job, and ${script} has ${jobs.length}`, {
    hint: flag === "--name" ? "write #@ --name above a job" : "sshoal logs prints the output of a job",
  });
}

const REFUSED = { kabukiCommands: "--kabuki-commands", gpus: "--gpus" } as const;
const TAKEN = [...FOR_BOTH, "--retries"];

/** Options of a whole batch that a queue decides by itself are named; those that change what jobs mean are refused. */
function checkForAll({ script, forAll }: Batch, reader: OptionReader, set: Partial<RawJob>): void {
  for (const [key, flag] of Object.entries(REFUSED)) {
    const line = forAll.find(({ text }) => text.includes(flag))?.line;
    if (key in set)
      reader.problems.push({
        where: `${script}:${line}`,
        message: `${flag} cannot be used in a queue`,
        hint: "run it with execute_batch",
      });
  }
  const flags = FOR_ALL.filter(
    (flag) => !TAKEN.includes(flag) && forAll.some(({ text }) => hasFlag(text, flag)),
  );
  const idle = flags.filter((flag) => !Object.values(REFUSED).some((refused) => refused === flag));
  if (idle.length > 0) note(`${script}: ${idle.join(", ")}: no effect, because the queue decides that`);
}

function hasFlag(text: string, flag: string): boolean {
  return text.split(/[\s=]/).includes(flag);
}

interface OwnSet {
  readonly job: Job;
  readonly set: Partial<RawJob>;
  readonly whereIs: (flag: string) => string;
}

/** Of each job, the jobs of the same request that it comes after. */
function placesAfter(own: readonly OwnSet[], problems: Problem[]): DependencyAsk[][] {
  const asking = own.map(({ job, set, whereIs }) => ({
    job: set.name === undefined ? job : { ...job, label: set.name },
    asked: askedDependencies({ set, whereIs }),
  }));
  const { dependsOn, problems: found } = findDependencies(asking);
  problems.push(...found);
  const placeOf = new Map(own.map(({ job: { id } }, index) => [id, index]));
  return own.map(({ job }) =>
    (dependsOn.get(job.id) ?? []).map(({ job: id, when }) => ({ when, place: placeOf.get(id) ?? 0 })),
  );
}

function withPlaces({ ask, ...paths }: AskedJob, places: readonly DependencyAsk[]): AskedJob {
  return { ask: places.length === 0 ? ask : { ...ask, after: [...(ask.after ?? []), ...places] }, ...paths };
}

async function readStdin(): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of process.stdin) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks);
}
