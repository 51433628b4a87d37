// Runs the commands of --notify: of a job when it has ended, and of a queue when it has become empty.

import { describeOutcome } from "../../model/job.js";
import type { Queue, QueueJob } from "../../model/queue.js";
import { runLocalCommand } from "../../run/home/local-command.js";
import type { Ledger } from "../ledger.js";
import type { House } from "../queue/generation-order.js";
import type { ServiceDatabase } from "../store/open-database.js";
import { isOver } from "./job-ends.js";

const LIMIT_MS = 30_000;

export class JobNotices {
  readonly #db: ServiceDatabase;
  readonly #ledger: Ledger;
  readonly #house: House;

  constructor(db: ServiceDatabase, ledger: Ledger, house: House) {
    this.#db = db;
    this.#ledger = ledger;
    this.#house = house;
  }

  /** After a job has ended or come back. */
  note(job: QueueJob): void {
    if (!isOver(job.state)) return;
    if (job.terms.notify !== undefined) this.#run(job.terms.notify, job, "ended");
    const queue = this.#db.queues.find(job.queue);
    if (queue?.notify !== null && queue?.notify !== undefined && this.#isEmpty(queue))
      this.#run(queue.notify, job, "empty");
  }

  #isEmpty({ name }: Queue): boolean {
    const { waiting, running, held } = this.#db.jobs.counts(name);
    return waiting - held + running === 0;
  }

  #run(line: string, job: QueueJob, event: "ended" | "empty"): void {
    const { homeDir } = this.#house.surroundings;
    const env = { ...process.env, ...factsOf(job, event) };
    const running = runLocalCommand({
      line,
      cwd: homeDir,
      env,
      limitMs: LIMIT_MS,
      signal: new AbortController().signal,
    });
    void running.then(({ problem }) => {
      if (problem === null) return;
      const message = `the command of --notify failed for ${job.queue}/${job.id}: ${problem}`;
      this.#ledger.record((tell) =>
        tell({ kind: "warning", queue: job.queue, job: job.id, data: { message } }),
      );
    });
  }
}

function factsOf(
  { queue, id, name, state, outcome, results }: QueueJob,
  event: string,
): Record<string, string> {
  return {
    SSHOAL_EVENT: event,
    SSHOAL_QUEUE: queue,
    SSHOAL_JOB: `${queue}/${id}`,
    SSHOAL_NAME: name ?? "",
    SSHOAL_STATE: state,
    SSHOAL_OUTCOME: outcome === null ? "" : describeOutcome(outcome),
    SSHOAL_RESULTS: results,
    SSHOAL_SUMMARY: `${queue}/${id}${name === null ? "" : ` ${name}`} ${state}`,
  };
}
