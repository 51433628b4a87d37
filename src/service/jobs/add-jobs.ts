// Adds jobs to a queue. Once this resolves, they are safe on the disk, whatever happens to the service.

import path from "node:path";
import { UserError } from "../../errors.js";
import { verdictOf } from "../../model/dependency.js";
import { type Dependency, kindOf } from "../../model/job.js";
import type { Enqueue, Enqueued, Queue } from "../../model/queue.js";
import type { Ledger } from "../ledger.js";
import type { House } from "../queue/generation-order.js";
import { isAllLocal, machinesOf, measureUnknown, refuseImpossible } from "../queue-machines.js";
import type { ServiceDatabase } from "../store/open-database.js";
import { turnoutOfState } from "./job-ends.js";
import { type CheckedJob, newJobs } from "./new-jobs.js";
import { reserveOutFiles } from "./out-file.js";

export interface Adder {
  readonly db: ServiceDatabase;
  readonly ledger: Ledger;
  readonly house: House;
  /** The queue is being deleted. */
  readonly isEnding: () => boolean;
}

/** Throws UserError with every mistake; nothing is added then. */
export async function addJobs(asked: Enqueue, queue: Queue, adder: Adder): Promise<Enqueued> {
  const { db, ledger, house, isEnding } = adder;
  const known = asked.key === undefined ? null : db.answers.find<Enqueued>(asked.key);
  if (known !== null) return known;
  if (asked.jobs.length === 0)
    throw new UserError("there are no jobs to add", { hint: "sshoal enqueue -- COMMAND" });
  const specs = await machinesOf(queue, house);
  await measureUnknown(queue, specs, house);
  const isLocal = isAllLocal(specs);
  const resultsDir = path.join(house.dir, "results");
  // Tried without an id first: a mistake must not take ids.
  const adding = (firstId: number) => ({
    queue,
    firstId,
    resultsDir,
    idOfName: (name: string) => db.search.named(queue.name, name)[0],
    isThere: (id: number) => db.jobs.find(queue.name, id) !== null,
  });
  const tried = newJobs(asked, adding(0));
  refuseUnfrozen(tried, queue, isLocal);
  for (const need of new Map(tried.map((job) => [kindOf(job.need), job.need])).values())
    refuseImpossible(queue, need, specs, house);
  const keep = environmentKeeper(asked, queue, isLocal, db);
  const environments = tried.map(({ env }) => keep(env));
  const files = reserveOutFiles(tried.flatMap(({ terms: { outFile } }) => outFile ?? []));
  try {
    return await ledger.write((tell) => {
      // It may have begun meanwhile, and jobs that are added now would be lost.
      if (isEnding() || db.queues.find(queue.name) === null)
        throw new UserError(`the queue ${queue.name} is being deleted`, { hint: "sshoal queue list" });
      const jobs = newJobs(asked, adding(db.queues.takeIds(queue.name, asked.jobs.length)));
      const enqueuedAt = Date.now();
      db.jobs.add(
        queue.name,
        jobs.map((job, place) => ({
          ...job,
          met: metOf(job, queue.name, db),
          environment: environments[place] ?? null,
          enqueuedAt,
        })),
      );
      for (const { id, name } of jobs)
        tell({ kind: "job-added", queue: queue.name, job: id, data: { name } });
      const answer = { queue: queue.name, ids: jobs.map(({ id }) => id) };
      if (asked.key !== undefined) db.answers.keep(asked.key, answer, enqueuedAt);
      return answer;
    });
  } catch (error) {
    files.undo();
    throw error;
  }
}

/** Dependencies on jobs that are over as they have to be. Throws UserError for one that can never be met. */
function metOf({ id, after }: CheckedJob, queue: string, db: ServiceDatabase): Dependency[] {
  return after.filter(({ job, when }) => {
    const other = db.jobs.find(queue, job);
    if (other === null) return false;
    const verdict = verdictOf(when, turnoutOfState(other));
    if (verdict === "open" || verdict === "met") return verdict === "met";
    throw new UserError(`job ${id} could never begin: job ${job} is ${other.state}`, {
      hint: `sshoal retry ${queue}/${job}, or leave out the dependency`,
    });
  });
}

function refuseUnfrozen(jobs: readonly CheckedJob[], { name }: Queue, isLocal: boolean): void {
  const unfrozen = jobs.find(({ terms }) => terms.tree === undefined);
  if (isLocal || unfrozen === undefined) return;
  throw new UserError(`jobs of the queue ${name} run on other machines, and need a copy of their directory`, {
    hint: `sshoal enqueue ${name} --freeze -- COMMAND`,
  });
}

/** Equal variables are kept once. On other machines, those of this shell mean nothing. */
function environmentKeeper(
  { environment = {} }: Enqueue,
  queue: Queue,
  isLocal: boolean,
  db: ServiceDatabase,
): (own: Readonly<Record<string, string>>) => string | null {
  const hash = db.queues.environmentOf(queue.name);
  const common = { ...(isLocal && environment), ...(hash === null ? {} : db.secrets.load(hash)) };
  const keep = (env: Readonly<Record<string, string>>) =>
    Object.keys(env).length === 0 ? null : db.secrets.keep(env, Date.now());
  let usual: string | null | undefined;
  return (own) => {
    if (Object.keys(own).length > 0) return keep({ ...common, ...own });
    usual ??= keep(common);
    return usual;
  };
}
